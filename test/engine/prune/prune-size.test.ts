// docs/guide/store.md#prune: the size limit is real, measured on disk with everything included.
import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Project, Store } from '../../../src/index.js'
import {
  DAY_MS,
  diskBytes,
  HandClock,
  idsOf,
  otherFolder,
  planOf,
  saveMany,
  setStore,
  withStore,
} from './prune-helpers.js'
import { hashTree, type Scratch, scratch } from '../../support/scratch.js'

const BYTES = 200_000

async function threeProjects(s: Scratch, store: Store): Promise<Project[]> {
  const folders = [s.project, otherFolder(s, 'second'), otherFolder(s, 'third')]
  return Promise.all(folders.map((folder) => store.project(folder)))
}

test('afterwards the store is under the limit, and the largest project has lost its oldest checkpoints', async () => {
  await using s = await scratch()
  setStore(s, { maxSizeMb: 1.4 })
  const store = await s.open()
  const projects = await threeProjects(s, store)
  const saved = new Map<Project, string[]>()
  for (const [n, project] of projects.entries())
    saved.set(project, await saveMany(project, s, { count: [6, 1, 2][n] ?? 0, bytes: BYTES }))
  expect(diskBytes(s.home)).toBeGreaterThan(1_800_000)
  const planned = await store.prune({ dryRun: true })
  const result = await store.prune()
  expect(result).toMatchObject({ errors: [], above: null, applied: true })
  expect(diskBytes(s.home)).toBeLessThanOrEqual(1_400_000)
  expect(Math.abs(result.sizeBytes - diskBytes(s.home))).toBeLessThan(50_000)
  expect(planned.plan.sizeBytes - result.sizeBytes).toBe(result.bytesReclaimed)
  // Not more than necessary: another 200 kB would not have fitted.
  expect(result.sizeBytes).toBeGreaterThan(1_400_000 - BYTES - 50_000)
  const kept = await Promise.all(projects.map((project) => idsOf(project)))
  for (const [n, project] of projects.entries()) {
    const ids = saved.get(project) ?? []
    expect(kept[n]).toEqual(ids.slice(ids.length - (kept[n]?.length ?? 0)).reverse())
  }
  const [first = [], second = [], third = []] = kept
  expect([first.length < 6, second.length, third.length]).toEqual([true, 1, 2])
  expect(Math.abs(result.plan.afterBytes - result.sizeBytes)).toBeLessThan(BYTES / 2)
  const frees = result.plan.projects.reduce((sum, { freesBytes }) => sum + freesBytes, 0)
  // Each also has a tree and a commit.
  expect(Math.abs(frees - result.deletedCheckpoints * BYTES)).toBeLessThan(BYTES / 2)
  for (const [n, project] of projects.entries())
    for (const id of kept[n] ?? []) await project.rewind(id)
})

test('automatic checkpoints are removed before prompts', async () => {
  await using s = await scratch()
  const store = await s.open()
  const project = await store.project(s.project)
  const session = await store.session<unknown>('agent', { project, lease: false })
  const ids: string[] = []
  const reasons = ['You: first', 'Edit: a', 'Edit: b', 'You: second', 'Edit: c']
  for (const reason of reasons) {
    if (reason.startsWith('You')) await session.newTurn()
    s.write({ 'noise.bin': randomBytes(BYTES) })
    ids.push((await session.save({ files: true, reason })).id)
  }
  await session.complete()
  await session.close()
  // Packed, and nothing is removed: no removal can reach the limit.
  const { sizeBytes } = await store.prune({ maxSizeMb: 0 })
  const left = async (cap: number) => {
    await store.prune({ maxSizeMb: cap / 1e6 })
    return (await idsOf(project)).map((id) => reasons[ids.indexOf(id)])
  }
  expect(await left(sizeBytes - 1.5 * BYTES)).toEqual(['Edit: c', 'You: second', 'You: first'])
  expect(await left(sizeBytes - 2.5 * BYTES)).toEqual(['Edit: c', 'You: second'])
  expect(await store.verify()).toMatchObject({ problems: [] })
})

test('if all candidates together are not enough, nothing is removed for size, and the result names the largest owners', async () => {
  await using s = await scratch()
  const store = await s.open()
  const projects = await threeProjects(s, store)
  for (const [n, project] of projects.entries())
    await saveMany(project, s, { count: [1, 3, 2][n] ?? 0, bytes: n === 0 ? 5 * BYTES : 100 })
  const before = await Promise.all(projects.map((project) => idsOf(project)))
  const dry = await store.prune({ maxSizeMb: 0.5, dryRun: true })
  expect(dry.plan.projects.every(({ drop }) => drop.length === 0)).toBe(true)
  const result = await store.prune({ maxSizeMb: 0.5 })
  expect(result).toMatchObject({ applied: true, deletedCheckpoints: 0 })
  expect(result.above?.byBytes).toBe(result.sizeBytes - 500_000)
  expect(result.above?.because).toEqual(['the newest checkpoint of each project', 'agent states'])
  const [largest] = result.above?.projects ?? []
  expect(largest?.path).toBe(s.project)
  expect(largest?.bytes).toBeGreaterThan(5 * BYTES)
  expect(await Promise.all(projects.map((project) => idsOf(project)))).toEqual(before)
})

test('the head of a finished session loses its files last, and says so', async () => {
  await using s = await scratch()
  const store = await s.open()
  const project = await store.project(s.project)
  const session = await store.session<unknown>('done', { project })
  s.write({ 'noise.bin': randomBytes(5 * BYTES) })
  const head = await session.save({ state: { step: 1 }, files: true })
  await session.complete()
  await session.close()
  await saveMany(project, s, { count: 1 })
  s.write({ 'noise.bin': 'small' })
  const { id: newest } = await project.save()
  const { sizeBytes } = await store.prune()
  const result = await store.prune({ maxSizeMb: (sizeBytes - 4 * BYTES) / 1e6 })
  expect(planOf(result, s.project).drop).toContainEqual({
    id: head.id,
    why: 'size',
    keepsState: true,
  })
  expect(result).toMatchObject({ above: null, prunedFiles: 1, deletedCheckpoints: 1 })
  const checkpoints = await project.list()
  expect(checkpoints.map(({ id, hasFiles, filesPruned }) => [id, hasFiles, filesPruned])).toEqual([
    [newest, true, undefined],
    [head.id, false, true],
  ])
  await expect(project.rewind(head.id)).rejects.toMatchObject({
    code: 'CHECKPOINT_PARTIAL',
    message: `The files of checkpoint ${head.id} were pruned`,
  })
  const { state } = await store.resume('done')
  expect(state).toEqual({ step: 1 })
  expect(await store.verify()).toMatchObject({ problems: [] })
})

test('pinned checkpoints are kept, and the result names them as the reason', async () => {
  await using s = await scratch()
  const store = await s.open()
  const project = await store.project(s.project)
  const ids = await saveMany(project, s, { count: 3, bytes: BYTES })
  for (const id of ids) await project.pin(id)
  const result = await store.prune({ maxSizeMb: 0.3 })
  expect(result.above?.byBytes).toBe(result.sizeBytes - 300_000)
  expect(result.above?.because[1]).toBe('3 checkpoints (pinned)')
  expect(await idsOf(project)).toEqual([...ids].reverse())
})

test('content that two projects share is stored once and freed with the last of them', async () => {
  await using s = await scratch()
  const store = await s.open()
  const [one, two] = [await store.project(s.project), await store.project(otherFolder(s, 'two'))]
  const content = randomBytes(BYTES)
  for (const project of [one, two]) {
    s.write({ 'same.bin': content }, project.path)
    await project.save()
    s.write({ 'same.bin': 'small' }, project.path)
    await project.save()
  }
  const git = ['-C', join(s.home, 'objects.git'), 'cat-file', '--batch-all-objects']
  const large = s
    .git([...git, '--batch-check=%(objectsize)'])
    .split('\n')
    .filter((size) => Number(size) === BYTES)
  expect(large.length).toBe(1)
  const { id } = (await one.list())[1] ?? { id: '' }
  await one.pin(id)
  const held = await store.prune({ maxCheckpoints: 1, dryRun: true })
  expect(planOf(held, two.path).freesBytes).toBeLessThan(BYTES / 2)
  await one.unpin(id)
  const result = await store.prune({ maxCheckpoints: 1 })
  expect(result.bytesReclaimed).toBeGreaterThan(BYTES / 2)
})

test('a dry run changes no byte of the store', async () => {
  await using s = await scratch()
  const store = await s.open()
  for (const project of await threeProjects(s, store))
    await saveMany(project, s, { count: 3, bytes: 5000 })
  const look = () =>
    new Map([...hashTree(s.home)].filter(([name]) => !/^ledger\.db-(wal|shm)$/.test(name)))
  const before = look()
  const result = await store.prune({ dryRun: true, maxCheckpoints: 1 })
  expect(result).toMatchObject({ applied: false, deletedCheckpoints: 0, bytesReclaimed: 0 })
  expect(result.plan.projects.every(({ drop }) => drop.length === 2)).toBe(true)
  expect(look()).toEqual(before)
  expect((await store.list({ limit: 100 })).length).toBe(9)
})

test('states of finished sessions are removed if files are not enough, least recently used first', async () => {
  await using s = await scratch()
  await withStore(s, async (store) => {
    const project = await store.project(s.project)
    for (const id of ['first', 'second', 'third', 'open']) {
      const session = await store.session<unknown>(id, { project })
      const noise = Array.from({ length: 20 }, () => randomBytes(10_000).toString('base64'))
      await session.save({ state: { noise } })
      if (id !== 'open') await session.complete()
      await session.close()
    }
    // This test ignores the write-ahead log and the backup.
    await store.prune()
    rmSync(join(s.home, 'ledger.db.backup'))
    const before = diskBytes(s.home)
    const capBytes = before - 400_000
    const result = await store.prune({ maxSizeMb: capBytes / 1e6 })
    expect(result.above).toBeNull()
    expect(diskBytes(s.home)).toBeLessThanOrEqual(capBytes)
    expect(result.plan.sessions).toEqual([
      { id: 'first', why: 'size' },
      { id: 'second', why: 'size' },
    ])
    expect((await store.sessions()).map(({ id }) => id)).toEqual(['open', 'third'])
    // All removable sessions together are not enough, so none is removed.
    const none = await store.prune({ maxSizeMb: 0 })
    expect([none.plan.sessions, none.above !== null]).toEqual([[], true])
  })
})

/** A conversation of so many steps; each step adds incompressible text and keeps the earlier text. */
async function converse(
  store: Store,
  id: string,
  { project, steps, bytes }: { project?: Project; steps: number; bytes: number },
): Promise<void> {
  const session = await store.session<{ messages: string[] }>(id, project ? { project } : {})
  for (let step = 0; step < steps; step += 1)
    await session.append('messages', [randomBytes(bytes).toString('base64')])
  await session.close()
}

test('a huge protected checkpoint costs no other project its history', async () => {
  await using s = await scratch()
  const store = await s.open()
  const hog = await store.project(s.project)
  const innocent = await store.project(otherFolder(s, 'innocent'))
  const ids = await saveMany(innocent, s, { count: 8, bytes: 20_000 })
  await saveMany(hog, s, { count: 1, bytes: 10 * BYTES })
  const { sizeBytes } = await store.prune({ maxSizeMb: 0 })
  // Removing the history of the other project would be just enough.
  const result = await store.prune({ maxSizeMb: (sizeBytes - 100_000) / 1e6 })
  expect(result).toMatchObject({ deletedCheckpoints: 0, applied: true })
  expect(result.above?.projects[0]).toMatchObject({ path: s.project, stateBytes: 0 })
  expect(await idsOf(innocent)).toEqual(ids.toReversed())
})

test.each(['of a project', 'without a project'])(
  'an unfinished conversation %s costs no other owner its history, and status names the largest owners',
  async (where) => {
    await using s = await scratch()
    const store = await s.open()
    const innocent = await store.project(otherFolder(s, 'innocent'))
    const ids = await saveMany(innocent, s, { count: 12, bytes: 20_000 })
    const project = where === 'of a project' ? { project: await store.project(s.project) } : {}
    await converse(store, 'long', { ...project, steps: 20, bytes: BYTES / 4 })
    const { sizeBytes } = await store.prune({ maxSizeMb: 0 })
    setStore(s, { maxSizeMb: (sizeBytes - 100_000) / 1e6 })
    const result = await store.prune({ unattended: true })
    expect([result.deletedCheckpoints, result.deletedSessions]).toEqual([0, 0])
    expect(await idsOf(innocent)).toEqual(ids.toReversed())
    const [largest] = result.above?.projects ?? []
    expect(largest?.path).toBe(where === 'of a project' ? s.project : 'session long')
    expect(largest?.stateBytes).toBeGreaterThan(5 * BYTES)
    const { above } = await store.status()
    expect(above?.byBytes).toBeGreaterThan(0)
    expect(above?.largest).toEqual(result.above?.projects)
    setStore(s, {})
    expect((await store.status()).above).toBeNull()
  },
)

test('a large conversation loses its old steps first and can be resumed', async () => {
  await using s = await scratch()
  const clock = new HandClock()
  const store = await s.open({ clock })
  const innocent = await store.project(otherFolder(s, 'innocent'))
  const ids = await saveMany(innocent, s, { count: 5, bytes: 20_000 })
  const session = await store.session<unknown>('long')
  // The states share nothing. Each hour has one, so the age rules keep all.
  for (let step = 0; step < 10; step += 1) {
    await session.save({ state: { step, noise: randomBytes(BYTES / 2).toString('base64') } })
    clock.pass(3_600_000)
  }
  await session.close()
  // After that time a session in progress is no longer fully protected.
  clock.pass(3 * DAY_MS)
  const { sizeBytes, deletedByReason } = await store.prune({ maxSizeMb: 0 })
  expect(deletedByReason).toEqual({})
  const before = await store.prune({ maxSizeMb: (sizeBytes - 3 * BYTES) / 1e6, dryRun: true })
  const drops = before.plan.unattached.drop.length
  expect(drops).toBeGreaterThan(1)
  const result = await store.prune({ maxSizeMb: (sizeBytes - 3 * BYTES) / 1e6 })
  expect([result.above, result.deletedCheckpoints]).toEqual([null, drops])
  expect(await idsOf(innocent)).toEqual(ids.toReversed())
  expect((await store.resume<{ step: number }>('long')).state?.step).toBe(9)
  expect(await store.verify()).toMatchObject({ problems: [] })
})
