// An import that is killed at any point is completed by the next one, as if it had never been interrupted.
import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { importFrom } from '../../src/imports/index.js'
import { fileURLToPath } from 'node:url'
import type { Store } from '../../src/index.js'
import { addVersion2 } from './hermes-folder.js'
import { IMPORT_POINTS } from './import-failpoints.js'
import { type Scratch, scratch } from '../support/scratch.js'

const PROGRAM = fileURLToPath(new URL('../../dist/cli/bin.js', import.meta.url))
const T0 = 1_700_000_000

const points = Object.entries(IMPORT_POINTS.import).flatMap(([point, visits]) =>
  Array.from({ length: visits }, (_, i) => (i === 0 ? point : `${point}@${i + 1}`)),
)

function makeSource(s: Scratch): string {
  const base = join(s.folder, 'hermes')
  const files = (n: number) => ({ 'a.txt': `${n}\n`, 'b/c.txt': 'same\n' })
  addVersion2(
    base,
    s.project,
    [1, 2, 3].map((n) => ({ reason: `commit ${n}`, at: T0 + n, files: files(n) })),
  )
  mkdirSync(base, { recursive: true })
  writeFileSync(join(base, 'task.yaml'), "goal: x\nupdated: '2025-11-15T12:00:00Z'\n")
  return base
}

async function everything(store: Store, s: Scratch): Promise<unknown> {
  const project = await store.project(s.project)
  const checkpoints = await project.list()
  const details = checkpoints.map(async ({ id }) => {
    const { tree, reason, createdAt, files, insertions, deletions } = await project.show(id)
    return { tree, reason, createdAt, files, insertions, deletions }
  })
  const sessions = (await store.sessions()).map(({ id, status, steps }) => ({ id, status, steps }))
  return { checkpoints: await Promise.all(details), sessions }
}

/** One source for all, which no import changes; each starts without a store. */
let s: Scratch
let base: string
let before: Map<string, string>
let undisturbed: unknown
beforeAll(async () => {
  s = await scratch({ files: { 'a.txt': 'now\n' } })
  base = makeSource(s)
  before = s.hashTree(base)
  const store = await s.open()
  await importFrom(store, 'hermes', { path: base })
  undisturbed = await everything(store, s)
  await store.close()
})
afterAll(() => s.dispose())

test.each(points)('killed at %s, the next import completes it', async (point) => {
  rmSync(s.home, { recursive: true })
  const environment = { ...process.env, SAVESTATE_HOME: s.home }
  const killed = spawnSync(process.execPath, [PROGRAM, 'import', 'hermes', base, '-y'], {
    env: { ...environment, SAVESTATE_FAILPOINT: point },
    cwd: s.project,
  })
  expect([killed.signal, killed.stderr.toString()]).toEqual(['SIGKILL', ''])
  const store = await s.open()
  const { added, known, problems } = await importFrom(store, 'hermes', { path: base })
  expect([added + known, problems]).toEqual([4, []])
  expect(await importFrom(store, 'hermes', { path: base })).toMatchObject({ added: 0, known: 4 })
  // A ref without a row is garbage, not damage (I2).
  const { problems: faults } = await store.verify()
  expect(faults.filter(({ kind }) => kind !== 'leftover')).toEqual([])
  expect(s.hashTree(base)).toEqual(before)
  expect(await everything(store, s)).toEqual(undisturbed)
  await store.close()
  expect(s.fsck()).toBe('')
})

test('two concurrent imports import everything once', async () => {
  rmSync(s.home, { recursive: true })
  const [first, second] = [await s.open({ inProcess: false }), await s.open({ inProcess: false })]
  const results = await Promise.all([
    importFrom(first, 'hermes', { path: base }),
    importFrom(second, 'hermes', { path: base }),
  ])
  expect(results.map(({ problems }) => problems)).toEqual([[], []])
  expect(results.reduce((sum, { added }) => sum + added, 0)).toBe(4)
  expect(await everything(first, s)).toEqual(undisturbed)
})
