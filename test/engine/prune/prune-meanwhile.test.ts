// docs/guide/store.md#prune: changes between the plan of a prune and its removals count.
import { execFileSync } from 'node:child_process'
import { mkdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import type { PruneResult } from '../../../src/index.js'
import {
  DAY_MS,
  HandClock,
  idsOf,
  otherFolder,
  planOf,
  saveMany,
  setStore,
} from './prune-helpers.js'
import { type Scratch, scratch } from '../../support/scratch.js'

const PROGRAM = join(dirname(fileURLToPath(import.meta.url)), '../../../dist/cli/bin.js')

/** A clock that is 8 days behind while the test saves old checkpoints; then it has the real time. */
function oldClock(): HandClock {
  const clock = new HandClock()
  clock.pass(-8 * DAY_MS)
  return clock
}

/** Runs code after the plan is made and before anything is removed. */
function meanwhile(happens: () => void): { confirm: () => Promise<boolean> } {
  return {
    confirm: async () => {
      happens()
      return true
    },
  }
}

function savestate(s: Scratch, folder: string, ...argv: readonly string[]): string {
  const env = { ...process.env, SAVESTATE_HOME: s.home, SAVESTATE_NO_DAEMON: '1' }
  return execFileSync(process.execPath, [PROGRAM, ...argv], { cwd: folder, env, encoding: 'utf8' })
}

test('a prune keeps an old checkpoint that a save has just relied on', async () => {
  await using s = await scratch({ files: { a: '1' } })
  setStore(s, { retention: 'hermes' })
  const clock = oldClock()
  const store = await s.open({ clock })
  const project = await store.project(s.project)
  const { id } = await project.save()
  let said = ''
  clock.pass(8 * DAY_MS)
  const hooks = meanwhile(() => {
    said = savestate(s, s.project, 'save')
  })
  const result = await store.prune(hooks)
  expect(said).toContain('Nothing changed since')
  expect(planOf(result, s.project).drop).toEqual([{ id, why: 'age' }])
  expect(result).toMatchObject({ deletedCheckpoints: 0, deletedStale: 0 })
  expect(result.errors).toMatchObject([{ what: s.project, code: 'PROJECT_BUSY' }])
  expect(await idsOf(project)).toEqual([id])
  await project.rewind(id)
})

test('a folder that exists again is no orphan', async () => {
  await using s = await scratch()
  const folder = otherFolder(s, 'moved')
  s.write({ a: '1' }, folder)
  const clock = oldClock()
  const store = await s.open({ clock })
  const project = await store.project(folder)
  const { id } = await project.save()
  rmSync(folder, { recursive: true })
  clock.pass(8 * DAY_MS)
  const hooks = meanwhile(() => mkdirSync(folder))
  const result = await store.prune({ retentionDays: 30, ...hooks })
  expect(planOf(result, folder).drop).toEqual([{ id, why: 'orphan' }])
  expect(result).toMatchObject({ deletedCheckpoints: 0, deletedOrphan: 0 })
  expect(await idsOf(project)).toEqual([id])
})

test('a session is kept if one of its checkpoints was named meanwhile', async () => {
  await using s = await scratch({ files: { a: '1' } })
  setStore(s, { retention: 'hermes' })
  const clock = oldClock()
  const store = await s.open({ clock })
  const project = await store.project(s.project)
  const session = await store.session<unknown>('old', { project })
  const { id } = await session.save({ state: { step: 1 }, files: true })
  await session.close()
  clock.pass(8 * DAY_MS)
  const hooks = meanwhile(() => savestate(s, s.project, 'name', id, 'works'))
  const result = await store.prune(hooks)
  expect(result.plan.sessions).toEqual([{ id: 'old', why: 'age' }])
  expect(result).toMatchObject({ deletedCheckpoints: 0, deletedSessions: 0 })
  expect(await project.list()).toMatchObject([{ id, name: 'works', hasState: true }])
})

test('a prune removes only what the user confirmed, not what became due during the question', async () => {
  await using s = await scratch()
  const [kept, gone] = [otherFolder(s, 'kept'), otherFolder(s, 'gone')]
  const store = await s.open()
  for (const folder of [kept, gone]) await saveMany(await store.project(folder), s, { count: 2 })
  const asked: PruneResult[] = []
  const result = await store.prune({
    maxCheckpoints: 1,
    confirm: async (planned) => {
      asked.push(planned)
      // Moved away for a short time.
      renameSync(gone, join(s.folder, 'away'))
      return true
    },
  })
  renameSync(join(s.folder, 'away'), gone)
  expect(asked.map(({ plan, applied }) => [plan, applied])).toEqual([[result.plan, false]])
  expect(result).toMatchObject({ applied: true, deletedCheckpoints: 2, deletedOrphan: 0 })
  expect((await idsOf(await store.project(gone))).length).toBe(1)
})

test('declining removes nothing, and an empty plan asks no question', async () => {
  await using s = await scratch()
  const store = await s.open()
  const project = await store.project(s.project)
  const ids = await saveMany(project, s, { count: 2 })
  const asked: number[] = []
  const hooks = {
    confirm: async ({ plan }: PruneResult) => {
      asked.push(plan.projects.length)
      return false
    },
  }
  const declined = await store.prune({ maxCheckpoints: 1, ...hooks })
  expect(declined).toMatchObject({ applied: false, deletedCheckpoints: 0 })
  expect(await idsOf(project)).toEqual(ids.toReversed())
  expect(await store.prune({ maxCheckpoints: 2, ...hooks })).toMatchObject({ applied: true })
  expect(asked).toEqual([1])
})

test('later rounds remove for size only, nothing by a rule that the plan did not show', async () => {
  await using s = await scratch()
  setStore(s, { retention: 'hermes' })
  const clock = new HandClock()
  const store = await s.open({ clock })
  const project = await store.project(s.project)
  const gone = await store.project(otherFolder(s, 'gone'))
  const aged = await store.project(otherFolder(s, 'aged'))
  const last = (await saveMany(gone, s, { count: 1 }))[0] ?? ''
  const old = (await saveMany(aged, s, { count: 1 }))[0] ?? ''
  const session = await store.session<unknown>('old')
  await session.save({ state: { step: 1 } })
  await session.close()
  clock.pass(7 * DAY_MS - 1000)
  await saveMany(project, s, { count: 3, bytes: 200_000 })
  await saveMany(gone, s, { count: 1, bytes: 10 })
  const newest = (await idsOf(gone))[0] ?? ''
  // Garbage is removed anyway.
  const { sizeBytes } = await store.prune()
  let shown: PruneResult | undefined
  const result = await store.prune({
    maxSizeMb: (sizeBytes - 300_000) / 1e6,
    async confirm(plan) {
      shown = plan
      rmSync(gone.path, { recursive: true })
      clock.pass(2000)
      // Large enough that the plan is no longer sufficient.
      await saveMany(project, s, { count: 1, bytes: 250_000 })
      return true
    },
  })
  const drops = shown?.plan.projects.flatMap(({ drop }) => drop) ?? []
  expect(drops.every(({ why }) => why === 'size')).toBe(true)
  expect(result.deletedCheckpoints).toBeGreaterThan(drops.length)
  expect(result).toMatchObject({ deletedOrphan: 0, deletedStale: 0, deletedSessions: 0 })
  // Small projects lose nothing: the large one has enough.
  expect(await idsOf(gone)).toEqual([newest, last])
  expect(await idsOf(aged)).toEqual([old])
})
