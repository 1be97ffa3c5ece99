// docs/guide/store.md#objects: a collection never removes what a concurrent save in another process relies on.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { tries } from '../../support/test-budget.js'
import { leftoversIn, otherFolder, withStore } from '../../engine/prune/prune-helpers.js'
import { type Scratch, scratch } from '../../support/scratch.js'

const CHILD = join(dirname(fileURLToPath(import.meta.url)), '../../support/save-loop.mjs')
const FOR_MS = tries(12_000)
/** Checkpoints that a prune removed while savers were running. */
const ENOUGH = 10
const LATEST_MS = 60_000

type Saver = {
  readonly folder: string
  /** The contents that each checkpoint should have. */
  readonly said: ReadonlyMap<string, number>
  readonly ended: Promise<string>
}

function startSaver(s: Scratch, folder: string, rest: object): Saver {
  const request = JSON.stringify({ home: s.home, project: folder, ...rest })
  const child = spawn(process.execPath, [CHILD, request], { stdio: ['ignore', 'pipe', 'pipe'] })
  const said = new Map<string, number>()
  let text = ''
  let complaints = ''
  child.stdout.on('data', (chunk) => {
    const lines = `${text}${String(chunk)}`.split('\n')
    text = lines.pop() ?? ''
    for (const line of lines) {
      const { id, world } = JSON.parse(line) as { id: string; world: number }
      said.set(id, world)
    }
  })
  child.stderr.on('data', (chunk) => (complaints += String(chunk)))
  return { folder, said, ended: once(child, 'close').then(([code]) => `${code} ${complaints}`) }
}

test('everything that savers report as saved can be restored, even if the store is pruned all the time', async () => {
  await using s = await scratch()
  const stop = join(s.folder, 'stop')
  const savers = [
    startSaver(s, s.project, { stop, seed: 1, reopen: false }),
    startSaver(s, otherFolder(s, 'second'), { stop, seed: 2, reopen: false }),
    startSaver(s, otherFolder(s, 'third'), { stop, seed: 3, reopen: true }),
  ]
  const store = await s.open()
  const until = Date.now() + FOR_MS
  let removed = 0
  let collections = 0
  // On a busy machine it takes longer until enough has happened.
  const isEnough = () => removed > ENOUGH && collections > 0
  while (Date.now() < until || (!isEnough() && Date.now() < until + LATEST_MS)) {
    // Over the limit, so that every pack with any waste is rewritten.
    const result = await store.prune({ maxCheckpoints: 2, maxSizeMb: 0 })
    removed += result.deletedCheckpoints
    if (!result.errors.some(({ what }) => what === 'store')) collections += 1
    await sleep(20)
  }
  writeFileSync(stop, '')
  for (const { ended } of savers) expect(await ended).toBe('0 ')
  expect(removed).toBeGreaterThan(ENOUGH)
  // At least one prune ran between two saves.
  expect(collections).toBeGreaterThan(0)
  expect(s.fsck()).toBe('')
  expect((await store.verify()).problems.filter(({ severity }) => severity !== 'note')).toEqual([])
  for (const { folder, said } of savers) {
    const project = await store.project(folder)
    const checkpoints = await project.list({ limit: 1000 })
    expect(checkpoints.length).toBeGreaterThan(0)
    for (const { id } of checkpoints) {
      await project.rewind(id)
      expect(worldIn(folder)).toEqual(worldOf(said.get(id)))
    }
  }
  await store.prune({ maxCheckpoints: 1 })
  expect(leftoversIn(s.home)).toEqual([])
})

function worldOf(world: number | undefined): Map<string, string> {
  const count = world === 0 ? 130 : 6
  return new Map(
    Array.from({ length: count }, (_, n) => [`${n}`, `file ${n} of world ${world}\n`.repeat(20)]),
  )
}

function worldIn(folder: string): Map<string, string> {
  const files = join(folder, 'files')
  const names = readdirSync(files).sort((a, b) => Number(a) - Number(b))
  return new Map(names.map((name) => [name, readFileSync(join(files, name), 'utf8')]))
}

test('the cache of a project is not used once its objects are gone', async () => {
  await using s = await scratch({ files: { a: 'one', 'b/c': 'two' } })
  await withStore(s, async (store) => {
    const project = await store.project(s.project)
    const session = await store.session<unknown>('keeps the project', { project })
    await session.save({ state: { n: 1 } })
    const first = await session.save({ files: true })
    s.write({ a: 'three' })
    const second = await session.save({ files: true })
    await session.complete()
    // The files of both are removed; the session keeps the project and its cache.
    await project.save()
    await store.prune({ retentionDays: 0, maxCheckpoints: 1, maxSizeMb: 0 })
    expect([first.created, second.created]).toEqual([true, true])
    s.write({ a: 'one' })
    const again = await project.save()
    s.write({ a: 'three' })
    const last = await project.save()
    for (const [id, content] of [
      [again.id, 'one'],
      [last.id, 'three'],
    ] as const) {
      await project.rewind(id)
      expect(readFileSync(join(s.project, 'a'), 'utf8')).toBe(content)
    }
    expect(s.fsck()).toBe('')
  })
})
