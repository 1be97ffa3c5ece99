// A prune killed at any failpoint leaves garbage, never damage (I2): every listed checkpoint can be restored, and the next prune
// completes the work.
import { execFileSync, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Project, Store } from '../../../src/index.js'
import { PRUNE_POINTS } from '../../support/failpoints/prune.js'
import { leftoversIn, otherFolder, withStore } from './prune-helpers.js'
import { type Scratch, scratch, type Seen, snapshotOf } from '../../support/scratch.js'

const CHILD = join(dirname(fileURLToPath(import.meta.url)), '../../support/prune-child.mjs')
/** Thorough: every pack with any garbage is rewritten. */
const INPUT = { maxCheckpoints: 2, maxSizeMb: 1 }

let s: Scratch
/** The content of each checkpoint. */
const worlds = new Map<string, Map<string, Seen>>()

beforeAll(async () => {
  s = await scratch()
  const folders = [s.project, otherFolder(s, 'second')]
  await withStore(s, async (store) => {
    for (const folder of folders) {
      const project = await store.project(folder)
      for (let n = 0; n < 5; n += 1) {
        const count = n === 1 || n === 3 ? 150 : 3
        const files = Array.from({ length: count }, (_, i) => [
          `f${i}`,
          randomBytes(40).toString('hex'),
        ])
        s.write({ ...Object.fromEntries(files), large: randomBytes(60_000) }, folder)
        const { id } = await project.save()
        worlds.set(id, snapshotOf(folder))
      }
    }
    const session = await store.session<unknown>('finished')
    for (let n = 0; n < 20; n += 1)
      await session.save({ state: { n, list: Array(n).fill(`${n}`) } })
    await session.complete()
  })
  keep()
})
afterAll(() => s.dispose())

const cases = Object.entries(PRUNE_POINTS).flatMap(([point, visits]) =>
  Array.from({ length: visits }, (_, n) => (n === 0 ? point : `${point}@${n + 1}`)),
)

test.each(cases)('a prune killed at %s leaves no damage', async (point) => {
  recall()
  const child = spawnSync(
    process.execPath,
    [CHILD, JSON.stringify({ home: s.home, input: INPUT })],
    {
      env: { ...process.env, SAVESTATE_FAILPOINT: point },
    },
  )
  expect([child.signal, child.stderr.toString()]).toEqual(['SIGKILL', ''])
  await withStore(s, (store) => expectSound(store))
  await withStore(s, async (store) => {
    const result = await store.prune(INPUT)
    expect(result.errors).toEqual([])
    expect(leftoversIn(s.home)).toEqual([])
    const all = await store.list({ limit: 100 })
    const checkpoints = all.filter(({ hasFiles }) => hasFiles)
    const refs = s.git(['-C', join(s.home, 'objects.git'), 'for-each-ref', '--format=%(refname)'])
    const names = refs.split('\n').map((ref) => ref.slice(ref.lastIndexOf('/') + 1))
    expect(names.sort()).toEqual(
      checkpoints
        .filter((it) => it.hasFiles)
        .map(({ id }) => id)
        .sort(),
    )
    expect(checkpoints.length).toBeLessThanOrEqual(4)
    await expectSound(store)
  })
  expect(s.fsck()).toBe('')
  expect(unreachableObjects()).toEqual([])
})

/** Nothing is damaged, and every listed checkpoint restores its content. */
async function expectSound(store: Store): Promise<void> {
  const { problems } = await store.verify()
  expect(problems.filter(({ severity }) => severity !== 'note')).toEqual([])
  const { projects } = await store.status()
  for (const { path } of projects) await expectComesBack(await store.project(path))
}

async function expectComesBack(project: Project): Promise<void> {
  const checkpoints = await project.list({ limit: 100 })
  expect(checkpoints.length).toBeGreaterThan(0)
  for (const { id } of checkpoints.filter((it) => worlds.has(it.id))) {
    await project.rewind(id)
    expect(snapshotOf(project.path)).toEqual(worlds.get(id))
  }
}

function unreachableObjects(): string[] {
  const text = s.git(['-C', join(s.home, 'objects.git'), 'fsck', '--unreachable', '--no-reflogs'])
  return text.split('\n').filter((line) => line.startsWith('unreachable'))
}

function keep(): void {
  execFileSync('cp', ['-a', s.home, join(s.folder, 'kept')])
}

function recall(): void {
  rmSync(s.home, { recursive: true })
  execFileSync('cp', ['-a', join(s.folder, 'kept'), s.home])
}
