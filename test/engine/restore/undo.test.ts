// Undo and redo, as additions to history (I7).
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Project } from '../../../src/index.js'
import { type Scratch, scratchWithThreads as scratch } from '../../support/scratch.js'

type World = ReturnType<Scratch['snapshotOf']>
type Saved = { readonly id: string; readonly world: World }

const NOTHING_TO_UNDO = expect.objectContaining({ code: 'NOTHING_TO_UNDO' })
const NOTHING_TO_REDO = expect.objectContaining({ code: 'NOTHING_TO_REDO' })

/** Saves three states; the folder has the last one. */
async function three(s: Scratch, project: Project): Promise<readonly [Saved, Saved, Saved]> {
  const states = [
    { 'a.txt': 'one', 'only-one.txt': '1', 'd/x': 'one', 'd/deep/y': 'one' },
    { 'a.txt': 'two', 'only-one.txt': null, 'only-two.txt': '2', d: null },
    { 'a.txt': 'three', 'only-two.txt': null, d: 'now a file', 'empty/folder': { folder: 0o700 } },
  ]
  const saved: Saved[] = []
  for (const state of states) {
    s.write(state)
    const { id } = await project.save({})
    saved.push({ id, world: s.snapshotOf() })
  }
  const [one, two, last] = saved
  if (one === undefined || two === undefined || last === undefined) throw new Error('three states')
  return [one, two, last]
}

async function projectOf(s: Scratch): Promise<Project> {
  return (await s.open()).project(s.project)
}

async function idsOf(project: Project): Promise<string[]> {
  return (await project.list()).map(({ id }) => id)
}

test('rewind, rewind, undo, undo, redo, redo: each step is exact, and history only grows', async () => {
  await using s = await scratch()
  const project = await projectOf(s)
  const [one, two, last] = await three(s, project)
  const steps: readonly (readonly [() => Promise<unknown>, World])[] = [
    [() => project.rewind(two.id), two.world],
    [() => project.rewind(one.id), one.world],
    [() => project.undo(), two.world],
    [() => project.undo(), last.world],
    [() => project.redo(), two.world],
    [() => project.redo(), one.world],
    [() => project.undo(), two.world],
    [() => project.redo(), one.world],
    [() => project.undo(), two.world],
    [() => project.undo(), last.world],
  ]
  let history = await idsOf(project)
  for (const [step, world] of steps) {
    await step()
    expect(s.snapshotOf()).toEqual(world)
    const longer = await idsOf(project)
    expect(longer.slice(-history.length)).toEqual(history)
    expect(longer.length).toBeGreaterThan(history.length)
    history = longer
  }
  await expect(project.undo()).rejects.toThrow(NOTHING_TO_UNDO)
  expect(await idsOf(project)).toEqual(history)
  // Every earlier state can still be restored.
  for (const { id, world } of [one, two, last]) {
    await project.rewind(id)
    expect(s.snapshotOf()).toEqual(world)
  }
})

test('the kinds and reasons of the checkpoints describe each step', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one' } })
  const project = await projectOf(s)
  const { id } = await project.save({ reason: 'good' })
  s.write({ 'a.txt': 'two' })
  const rewound = await project.rewind(id)
  const undone = await project.undo()
  const redone = await project.redo()
  const checkpoints = await project.list()
  const rows = checkpoints.map(({ id: of, kind, reason }) => [of, kind, reason])
  const rewind = `rewind to "good" (${id.slice(0, 8)})`
  expect(rows).toEqual([
    [redone.checkpoint, 'redo', `redo of ${rewind}`],
    [undone.checkpoint, 'undo', `undo of ${rewind}`],
    [rewound.checkpoint, 'rewind', rewind],
    [rewound.safety, 'safety', `before ${rewind}`],
    [id, 'save', 'good'],
  ])
})

test('undo leaves alone the files that the rewind did not change', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one', 'b.txt': 'one', 'c/d.txt': 'one' } })
  const project = await projectOf(s)
  const { id } = await project.save({})
  s.write({ 'a.txt': 'two', 'made.txt': 'made later' })
  await project.rewind(id)
  s.write({ 'b.txt': 'edited since', 'c/d.txt': null, 'new.txt': 'written since' })
  const edited = s.snapshotOf()
  const { plan } = await project.undo()
  expect(plan.write.map(({ path }) => path)).toEqual(['a.txt', 'made.txt'])
  const expected = new Map(edited)
  for (const path of ['a.txt', 'made.txt']) {
    const seen = s.snapshotOf().get(path)
    if (seen !== undefined) expected.set(path, seen)
  }
  expect(s.snapshotOf()).toEqual(expected)
  expect(readFileSync(join(s.project, 'a.txt'), 'utf8')).toBe('two')
  expect(readFileSync(join(s.project, 'b.txt'), 'utf8')).toBe('edited since')
})

test('undo after an edit of the same file keeps the edit in a checkpoint', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one' } })
  const project = await projectOf(s)
  const { id } = await project.save({})
  s.write({ 'a.txt': 'two' })
  await project.rewind(id)
  s.write({ 'a.txt': 'edited since' })
  const edited = s.snapshotOf()
  const { safety } = await project.undo()
  expect(readFileSync(join(s.project, 'a.txt'), 'utf8')).toBe('two')
  await project.rewind(safety ?? '')
  expect(s.snapshotOf()).toEqual(edited)
})

test('a new rewind clears the redo, and can be undone itself', async () => {
  await using s = await scratch()
  const project = await projectOf(s)
  const [one, two, last] = await three(s, project)
  await project.rewind(two.id)
  await project.undo()
  await project.rewind(one.id)
  await expect(project.redo()).rejects.toThrow(NOTHING_TO_REDO)
  await project.undo()
  expect(s.snapshotOf()).toEqual(last.world)
})

test('undo ignores saves after the rewind', async () => {
  await using s = await scratch()
  const project = await projectOf(s)
  const [one, , last] = await three(s, project)
  await project.rewind(one.id)
  s.write({ 'unrelated.txt': 'x' })
  await project.save({ reason: 'between' })
  await project.undo()
  const world = s.snapshotOf()
  expect(world.has('unrelated.txt')).toBe(true)
  world.delete('unrelated.txt')
  expect(world).toEqual(last.world)
})

test('without a rewind there is nothing to undo or redo, and a dry run says so too', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one' } })
  const project = await projectOf(s)
  for (const input of [{}, { dryRun: true }]) {
    await expect(project.undo(input)).rejects.toThrow(NOTHING_TO_UNDO)
    await expect(project.redo(input)).rejects.toThrow(NOTHING_TO_REDO)
  }
  await project.save({})
  await expect(project.undo()).rejects.toThrow(NOTHING_TO_UNDO)
  const checkpoints = await project.list()
  await project.rewind(checkpoints[0]?.id ?? '')
  // A rewind without differences cannot be undone.
  await expect(project.undo()).rejects.toThrow(NOTHING_TO_UNDO)
  await expect(project.redo()).rejects.toThrow(NOTHING_TO_REDO)
})

test('a dry run of undo and redo shows the plan and changes nothing', async () => {
  await using s = await scratch()
  const project = await projectOf(s)
  const [one] = await three(s, project)
  await project.rewind(one.id)
  const before = s.hashTree(s.project)
  const history = await idsOf(project)
  const dry = await project.undo({ dryRun: true })
  expect(dry).toMatchObject({ applied: false, safety: null, checkpoint: null })
  expect(s.hashTree(s.project)).toEqual(before)
  expect(await idsOf(project)).toEqual(history)
  const done = await project.undo()
  expect(done.plan).toEqual(dry.plan)
  const again = await project.redo({ dryRun: true })
  expect((await project.redo()).plan).toEqual(again.plan)
})

test('undo of a rewind of some paths restores those paths', async () => {
  await using s = await scratch()
  const project = await projectOf(s)
  const [one, , last] = await three(s, project)
  await project.rewind(one.id, { paths: ['a.txt', 'd'] })
  expect(readFileSync(join(s.project, 'a.txt'), 'utf8')).toBe('one')
  expect(s.snapshotOf().has('only-one.txt')).toBe(false)
  await project.undo()
  expect(s.snapshotOf()).toEqual(last.world)
  await project.redo()
  expect(readFileSync(join(s.project, 'd/deep/y'), 'utf8')).toBe('one')
  expect(s.snapshotOf().has('only-one.txt')).toBe(false)
})

test('undo works in another process, and each project has its own history', async () => {
  await using s = await scratch()
  const store = await s.open()
  const project = await store.project(s.project)
  const [one, , last] = await three(s, project)
  await project.rewind(one.id)
  await store.close()
  const again = await s.open()
  s.write({ 'x.txt': 'x' }, join(s.folder, 'other'))
  const other = await again.project(join(s.folder, 'other'))
  await other.save({})
  await expect(other.undo()).rejects.toThrow(NOTHING_TO_UNDO)
  await (await again.project(s.project)).undo()
  expect(s.snapshotOf()).toEqual(last.world)
})

test('a declined undo changes nothing, and can still be done', async () => {
  await using s = await scratch()
  const project = await projectOf(s)
  const [one, , last] = await three(s, project)
  await project.rewind(one.id)
  expect(await project.undo({ confirm: async () => false })).toMatchObject({ declined: true })
  expect(s.snapshotOf()).toEqual(one.world)
  await project.undo()
  expect(s.snapshotOf()).toEqual(last.world)
})

test('an undo of a rewind that was already reverted by hand counts, and the earlier rewind can be undone', async () => {
  await using s = await scratch()
  const project = await projectOf(s)
  const [one, two, last] = await three(s, project)
  await project.rewind(two.id)
  await project.rewind(one.id, { paths: ['a.txt'] })
  s.write({ 'a.txt': 'two' })
  expect(s.snapshotOf()).toEqual(two.world)
  expect(await project.undo({ dryRun: true })).toMatchObject({ applied: false })
  const nothing = { write: [], remove: [], keep: [], conflict: [] }
  // Nothing is changed, so it does not ask.
  const confirm = () => Promise.reject(new Error('asked'))
  expect(await project.undo({ confirm })).toMatchObject({ applied: true, plan: nothing })
  expect(s.snapshotOf()).toEqual(two.world)
  await project.undo()
  expect(s.snapshotOf()).toEqual(last.world)
  await project.redo()
  expect(s.snapshotOf()).toEqual(two.world)
  s.write({ 'a.txt': 'one' })
  expect(await project.redo({ confirm })).toMatchObject({ applied: true, plan: nothing })
  await project.undo()
  expect(s.snapshotOf()).toEqual(two.world)
})
