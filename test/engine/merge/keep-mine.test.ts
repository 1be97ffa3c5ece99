// `keepMine` keeps the lines of the user and takes back those of others in the same file.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Project } from '../../../src/index.js'
import { type Scratch, scratchWithThreads as scratch } from '../../support/scratch.js'

const lines = (changes: Readonly<Record<number, string>> = {}) =>
  Array.from({ length: 12 }, (_, index) => `${changes[index + 1] ?? `line ${index + 1}`}\n`).join(
    '',
  )

type Change = readonly [author: 'you' | 'claude', changes: Readonly<Record<number, string>>]

/** Saves `a.txt` after each change, which includes those before it; returns the checkpoint before the first. */
async function edited(s: Scratch, changes: readonly Change[]): Promise<[Project, string]> {
  const project = await (await s.open()).project(s.project)
  s.write({ 'a.txt': lines() })
  const { id } = await project.save()
  let all = {}
  for (const [author, more] of changes) {
    all = { ...all, ...more }
    s.write({ 'a.txt': lines(all) })
    await project.save({ author })
  }
  return [project, id]
}

const read = (s: Scratch) => readFileSync(join(s.project, 'a.txt'), 'utf8')

const MERGED = {
  write: [expect.objectContaining({ path: 'a.txt', reason: 'merged with your changes' })],
  keep: [],
}
const KEPT = { write: [], remove: [], keep: [{ path: 'a.txt', reason: 'changed by you' }] }

test.each([
  [
    'after the agent',
    [
      ['claude', { 2: 'agent' }],
      ['you', { 6: 'mine' }],
    ],
  ],
  [
    'before the agent',
    [
      ['you', { 6: 'mine' }],
      ['claude', { 2: 'agent' }],
    ],
  ],
  [
    'between changes of the agent',
    [
      ['claude', { 2: 'agent', 10: 'agent' }],
      ['you', { 6: 'mine' }],
      ['claude', { 2: 'agent again' }],
    ],
  ],
  [
    'although the agent has changed them since',
    [
      ['you', { 6: 'mine' }],
      ['claude', { 6: 'not mine', 2: 'agent' }],
    ],
  ],
] as const)('the lines of the user stay: %s', async (_, changes) => {
  await using s = await scratch()
  const [project, start] = await edited(s, changes)
  const before = s.snapshotOf()
  const { plan } = await project.rewind(start, { keepMine: true })
  expect(plan).toMatchObject(MERGED)
  expect(read(s)).toBe(lines({ 6: 'mine' }))
  await project.undo()
  expect(s.snapshotOf()).toEqual(before)
})

test('changes that are in no checkpoint yet are the user’s', async () => {
  await using s = await scratch()
  const [project, start] = await edited(s, [['claude', { 2: 'agent' }]])
  s.write({ 'a.txt': lines({ 2: 'agent', 6: 'mine' }) })
  await project.rewind(start, { keepMine: true })
  expect(read(s)).toBe(lines({ 6: 'mine' }))
})

test('a file whose lines cannot be separated stays whole', async () => {
  await using s = await scratch()
  const [project, start] = await edited(s, [
    ['claude', { 2: 'agent', 10: 'agent' }],
    ['you', { 2: 'agent and me' }],
  ])
  const before = s.snapshotOf()
  const { plan } = await project.rewind(start, { keepMine: true })
  expect(plan).toMatchObject(KEPT)
  expect(s.snapshotOf()).toEqual(before)
})

test('a file that only the user has changed is listed as kept', async () => {
  await using s = await scratch()
  const [project, start] = await edited(s, [['you', { 6: 'mine' }]])
  expect((await project.rewind(start, { keepMine: true })).plan).toMatchObject(KEPT)
})

test('binary files, added and removed files stay whole', async () => {
  await using s = await scratch()
  const project = await (await s.open()).project(s.project)
  s.write({ 'a.bin': Buffer.from([0, 1]), 'gone.txt': 'one\n', mode: 'one\n' })
  const { id } = await project.save()
  s.write({ 'a.bin': Buffer.from([0, 1, 2]), 'gone.txt': 'two\n', 'new.txt': 'one\n' })
  await project.save({ author: 'claude' })
  s.write({ 'a.bin': Buffer.from([0, 1, 2, 3]), 'gone.txt': null, 'new.txt': 'two\n' })
  const before = s.snapshotOf()
  const { plan } = await project.rewind(id, { keepMine: true })
  expect(plan.keep.map(({ path }) => path)).toEqual(['a.bin', 'gone.txt', 'new.txt'])
  expect(s.snapshotOf()).toEqual(before)
})

test('the mode of one side and the lines of the other are merged', async () => {
  await using s = await scratch()
  const [project, start] = await edited(s, [['claude', { 2: 'agent' }]])
  s.write({ 'a.txt': { content: lines({ 2: 'agent' }), mode: 0o755 } })
  await project.rewind(start, { keepMine: true })
  expect(read(s)).toBe(lines())
  expect(s.snapshotOf().get('a.txt')?.mode).toBe(0o755)
})

test('the lines stay the user’s after a merge, and after its undo', async () => {
  await using s = await scratch()
  const [project, start] = await edited(s, [
    ['claude', { 2: 'agent' }],
    ['you', { 6: 'mine' }],
    ['claude', { 10: 'agent' }],
  ])
  await project.undoSteps(['1'])
  expect(read(s)).toBe(lines({ 2: 'agent', 6: 'mine' }))
  await project.rewind(start, { keepMine: true })
  expect(read(s)).toBe(lines({ 6: 'mine' }))
  expect((await project.rewind(start, { keepMine: true })).plan).toMatchObject(KEPT)
  await project.undo()
  await project.undo()
  await project.rewind(start, { keepMine: true })
  expect(read(s)).toBe(lines({ 6: 'mine' }))
})

test('what the user has taken back is no longer kept', async () => {
  await using s = await scratch()
  const [project, start] = await edited(s, [
    ['you', { 4: 'mine', 8: 'mine' }],
    ['claude', { 1: 'agent' }],
    ['you', { 8: 'line 8' }],
  ])
  await project.rewind(start, { keepMine: true })
  expect(read(s)).toBe(lines({ 4: 'mine' }))
})

test('paths limit which files are merged', async () => {
  await using s = await scratch()
  const [project, start] = await edited(s, [
    ['claude', { 2: 'agent' }],
    ['you', { 6: 'mine' }],
  ])
  const { plan } = await project.rewind(start, { keepMine: true, paths: ['b'] }).catch(() => ({
    plan: undefined,
  }))
  expect(plan).toBeUndefined()
  s.write({ 'b.txt': 'later' })
  const result = await project.rewind(start, { keepMine: true, paths: ['b.txt'] })
  expect(result.plan).toEqual({
    write: [],
    remove: [],
    keep: [{ path: 'b.txt', reason: 'changed by you' }],
    conflict: [],
  })
})
