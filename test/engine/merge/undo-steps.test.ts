// Takes back single steps and keeps everything later.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Project, UndoStepsOptions } from '../../../src/index.js'
import {
  type FileSpec,
  inFolder,
  type Scratch,
  scratch,
  scratchWithThreads,
} from '../../support/scratch.js'

type Files = Readonly<Record<string, FileSpec>>

const LINES = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine']
const lines = (changes: Readonly<Record<number, string>> = {}) =>
  LINES.map((line, index) => `${changes[index + 1] ?? line}\n`).join('')

/** Saves each state of the folder; returns the ids. */
async function saved(s: Scratch, states: readonly Files[]): Promise<[Project, string[]]> {
  const project = await (await s.open()).project(s.project)
  const ids: string[] = []
  for (const state of states) {
    s.write(state)
    ids.push((await project.save()).id)
  }
  return [project, ids]
}

/** Undoes the second of three states, in a folder that has the third. */
async function undoSecond(
  s: Scratch,
  states: readonly [Files, Files, Files],
  options: UndoStepsOptions = {},
) {
  const [project, [, second = '']] = await saved(s, states)
  return { project, result: await project.undoSteps([second], options) }
}

const text = (s: Scratch, path: string) => readFileSync(join(s.project, path), 'utf8')

test('a file that is untouched since goes back to the version before the step', async () => {
  await using s = await scratch()
  const { result } = await undoSecond(s, [
    { 'a.txt': 'one', 'b.txt': 'one' },
    { 'a.txt': 'two', 'new.txt': 'made by the step', 'b.txt': null },
    { 'c.txt': 'later' },
  ])
  expect(result.applied).toBe(true)
  const world = s.snapshotOf()
  expect([...world.keys()].sort()).toEqual(['', 'a.txt', 'b.txt', 'c.txt'])
  expect(text(s, 'a.txt')).toBe('one')
})

test('lines of a file that was edited since are merged', async () => {
  await using s = await scratch()
  await undoSecond(s, [
    { 'a.txt': lines() },
    { 'a.txt': lines({ 2: 'of the step' }) },
    { 'a.txt': lines({ 2: 'of the step', 8: 'later' }) },
  ])
  expect(text(s, 'a.txt')).toBe(lines({ 8: 'later' }))
})

test('changes that are in no checkpoint yet are merged and saved first', async () => {
  await using s = await scratch()
  const [project, [, second = '']] = await saved(s, [
    { 'a.txt': lines() },
    { 'a.txt': lines({ 2: 'of the step' }) },
  ])
  s.write({ 'a.txt': lines({ 2: 'of the step', 8: 'unsaved' }) })
  const before = s.snapshotOf()
  const { safety } = await project.undoSteps([second])
  expect(text(s, 'a.txt')).toBe(lines({ 8: 'unsaved' }))
  await project.rewind(safety ?? '')
  expect(s.snapshotOf()).toEqual(before)
})

const CONFLICT: readonly [Files, Files, Files] = [
  { 'a.txt': lines(), 'b.txt': 'one' },
  { 'a.txt': lines({ 2: 'of the step' }), 'b.txt': 'two' },
  { 'a.txt': lines({ 2: 'later' }) },
]

test('a conflict is refused by default: nothing is written, and the dry run lists it', async () => {
  await using s = await scratch()
  const [project, [, second = '']] = await saved(s, CONFLICT)
  const before = s.hashTree(s.project)
  const count = await project.count()
  await expect(project.undoSteps([second])).rejects.toMatchObject({
    code: 'MERGE_CONFLICT',
    message: 'One path cannot be merged',
    hint: expect.stringContaining('  a.txt  (the same lines were changed since)\n'),
  })
  expect(s.hashTree(s.project)).toEqual(before)
  expect(await project.count()).toBe(count)
  const { plan } = await project.undoSteps([second], { dryRun: true })
  expect(plan.conflict).toEqual([{ path: 'a.txt', reason: 'the same lines were changed since' }])
  expect(plan.write.map(({ path }) => path)).toEqual(['b.txt'])
})

test.each([
  ['ours', lines({ 2: 'later' })],
  ['theirs', lines()],
  ['markers', lines({ 2: '<<<<<<< now\nlater\n=======\ntwo\n>>>>>>> before STEP' })],
] as const)('--%s decides conflicts', async (conflict, wanted) => {
  await using s = await scratch()
  const [project, [, second = '']] = await saved(s, CONFLICT)
  const { plan } = await project.undoSteps([second], { conflict })
  expect(text(s, 'a.txt').replace(second.slice(0, 8), 'STEP')).toBe(wanted)
  expect(text(s, 'b.txt')).toBe('one')
  expect(plan.conflict).toEqual([])
  expect(plan.keep).toEqual(
    conflict === 'ours'
      ? [{ path: 'a.txt', reason: 'kept as it is: the same lines were changed since' }]
      : [],
  )
})

test('binary files are never merged: markers refuses them, theirs takes them whole', async () => {
  await using s = await scratch()
  const bytes = (text: string) => Buffer.from(`\0${text}`)
  const [project, [, second = '']] = await saved(s, [
    { 'a.bin': bytes('one') },
    { 'a.bin': bytes('two') },
    { 'a.bin': bytes('three') },
  ])
  for (const conflict of ['refuse', 'markers'] as const)
    await expect(project.undoSteps([second], { conflict })).rejects.toMatchObject({
      hint: expect.stringContaining('a.bin  (binary, and changed since)'),
    })
  await project.undoSteps([second], { conflict: 'theirs' })
  expect(text(s, 'a.bin')).toBe('\0one')
})

test('a file that the step renamed and that was edited since gets its old name, with the edit', async () => {
  await using s = await scratch()
  await undoSecond(s, [
    { 'old.txt': lines() },
    { 'old.txt': null, 'new.txt': lines({ 2: 'of the step' }) },
    { 'new.txt': lines({ 2: 'of the step', 8: 'later' }) },
  ])
  expect([...s.snapshotOf().keys()]).toEqual(['', 'old.txt'])
  expect(text(s, 'old.txt')).toBe(lines({ 8: 'later' }))
})

test('a file that was renamed since keeps its new name', async () => {
  await using s = await scratch()
  await undoSecond(s, [
    { 'old.txt': lines() },
    { 'old.txt': lines({ 2: 'of the step' }) },
    { 'old.txt': null, 'deep/new.txt': lines({ 2: 'of the step', 8: 'later' }) },
  ])
  expect([...s.snapshotOf().keys()]).toEqual(['', 'deep', 'deep/new.txt'])
  expect(text(s, 'deep/new.txt')).toBe(lines({ 8: 'later' }))
})

test('modes, types, links, folders and names of any bytes', async () => {
  await using s = await scratch()
  const odd = '"a\\377\\n.txt"'
  const { result } = await undoSecond(s, [
    {
      run: { content: lines(), mode: 0o644 },
      mixed: { content: lines(), mode: 0o644 },
      link: { link: 'here' },
      type: 'a file',
      [odd]: lines(),
      'empty/folder': { folder: 0o750 },
    },
    {
      run: { content: lines(), mode: 0o755 },
      mixed: { content: lines({ 2: 'of the step' }), mode: 0o644 },
      link: { link: 'there' },
      [odd]: lines({ 2: 'of the step' }),
      'made/empty': { folder: 0o700 },
      'made/more/file': 'of the step',
    },
    {
      run: { content: lines({ 8: 'later' }), mode: 0o755 },
      mixed: { content: lines({ 2: 'of the step' }), mode: 0o600 },
      [odd]: lines({ 2: 'of the step', 8: 'later' }),
      'made/later': 'later',
    },
  ])
  expect(result.plan.conflict).toEqual([])
  const world = s.snapshotOf()
  expect(world.get('run')?.mode).toBe(0o644)
  expect(text(s, 'run')).toBe(lines({ 8: 'later' }))
  expect(world.get('mixed')?.mode).toBe(0o600)
  expect(text(s, 'mixed')).toBe(lines())
  expect(world.get('link')?.content).toBe('here')
  expect(readFileSync(inFolder(s.project, odd), 'utf8')).toBe(lines({ 8: 'later' }))
  // The folder has a later file, so only the rest of it goes.
  expect([...world.keys()].filter((path) => path.startsWith('made'))).toEqual([
    'made',
    'made/later',
  ])
})

test('a step that made a file of a folder goes back only if nothing was put in its way', async () => {
  await using s = await scratch()
  const [project, [, second = '']] = await saved(s, [
    { thing: 'a file' },
    { thing: null },
    { 'thing/inside': 'later' },
  ])
  for (const conflict of ['refuse', 'theirs'] as const)
    await expect(project.undoSteps([second], { conflict })).rejects.toMatchObject({
      code: 'MERGE_CONFLICT',
    })
  await project.undoSteps([second], { conflict: 'ours' })
  expect(text(s, 'thing/inside')).toBe('later')
})

test('several steps and ranges are one plan, and one undo reverts it', async () => {
  await using s = await scratchWithThreads()
  const [project, ids] = await saved(s, [
    { 'a.txt': lines() },
    { 'a.txt': lines({ 1: 'step 1' }) },
    { 'a.txt': lines({ 1: 'step 1', 3: 'step 2' }) },
    { 'a.txt': lines({ 1: 'step 1', 3: 'step 2', 5: 'step 3' }) },
    { 'a.txt': lines({ 1: 'step 1', 3: 'step 2', 5: 'step 3', 7: 'step 4' }) },
    { 'a.txt': lines({ 1: 'step 1', 3: 'step 2', 5: 'step 3', 7: 'step 4', 9: 'step 5' }) },
  ])
  const before = s.snapshotOf()
  const count = await project.count()
  await project.undoSteps([ids[4] ?? '', `${ids[0]}..${ids[2]}`])
  expect(text(s, 'a.txt')).toBe(lines({ 5: 'step 3', 9: 'step 5' }))
  expect(await project.count()).toBe(count + 1)
  await project.undo()
  expect(s.snapshotOf()).toEqual(before)
  await project.redo()
  expect(text(s, 'a.txt')).toBe(lines({ 5: 'step 3', 9: 'step 5' }))
  // A range includes its end and not its start; the numbers count the rewinds too.
  await project.undo()
  await project.undoSteps([`${ids[2]}..`])
  expect(text(s, 'a.txt')).toBe(lines({ 1: 'step 1', 3: 'step 2' }))
})

test('wrong references', async () => {
  await using s = await scratch()
  const [project, [first = '', second = '']] = await saved(s, [{ a: '1' }, { a: '2' }])
  const code = async (...refs: string[]) =>
    project.undoSteps(refs).then(
      () => 'done',
      (error: { code: string }) => error.code,
    )
  expect(await code()).toBe('BAD_INPUT')
  expect(await code('nothing')).toBe('CHECKPOINT_UNKNOWN')
  expect(await code(first)).toBe('CHECKPOINT_UNKNOWN')
  expect(await code(`${second}..${first}`)).toBe('BAD_INPUT')
  expect(await code(`${first}..${first}`)).toBe('BAD_INPUT')
  expect(await code(`..${first}`)).toBe('BAD_INPUT')
})

test('a file that the step took out of the ignore rules stays: it may have existed before', async () => {
  await using s = await scratch()
  const { result } = await undoSecond(s, [
    { '.gitignore': '*.data\n', 'work.data': 'kept' },
    { '.gitignore': '' },
    { 'a.txt': 'later' },
  ])
  expect(text(s, 'work.data')).toBe('kept')
  expect(text(s, '.gitignore')).toBe('*.data\n')
  expect(result.plan.keep).toEqual([
    { path: 'work.data', reason: 'existed then but was not captured (ignored)' },
  ])
})

test('undoing a step that is undone already changes nothing', async () => {
  await using s = await scratch()
  const { project } = await undoSecond(s, [{ a: '1' }, { a: '2' }, { b: '1' }])
  const undone = (await project.list()).find(({ kind }) => kind === 'rewind')
  expect(text(s, 'a')).toBe('1')
  // The undo is a step itself, so it can be undone like one.
  await project.undoSteps([undone?.id ?? ''])
  expect(text(s, 'a')).toBe('2')
})
