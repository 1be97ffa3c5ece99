import { expect, test } from 'vitest'
import { type BytePath, bytePath, isInside } from '../../../src/model/byte-path.js'
import type { Entry, SkipReason, Uncaptured } from '../../../src/model/entry.js'
import { parseObjectId } from '../../../src/model/ids.js'
import {
  planRestore,
  type RestorePlan,
  type Scope,
} from '../../../src/model/restore/restore-plan.js'

const EVERYTHING: Scope = { includes: () => true, uncapturedThen: () => undefined }

const file = (content: string, mode = 0o644): Entry => ({
  type: 'file',
  blob: parseObjectId(content.repeat(40).slice(0, 40)),
  mode,
})
const link = (content: string): Entry => ({
  type: 'link',
  blob: parseObjectId(content.repeat(40).slice(0, 40)),
})
const folder = (mode = 0o755): Entry => ({ type: 'folder', mode })
const uncaptured = (reason: SkipReason, isFolder = false): Uncaptured => ({
  type: 'uncaptured',
  reason,
  isFolder,
})

function mapOf<T>(entries: Readonly<Record<string, T>>): Map<BytePath, T> {
  return new Map(Object.entries(entries).map(([path, entry]) => [bytePath(path), entry]))
}

function plan(
  now: Readonly<Record<string, Entry | Uncaptured>>,
  then: Readonly<Record<string, Entry>>,
  scope: Partial<Scope> = {},
): RestorePlan {
  return planRestore(mapOf(now), mapOf(then), { ...EVERYTHING, ...scope })
}

/** The paths of the plan. */
function paths({ write, remove, keep, conflict }: RestorePlan) {
  const pathsOf = (items: readonly { readonly path: BytePath }[]) => items.map(({ path }) => path)
  return {
    write: pathsOf(write),
    remove: pathsOf(remove),
    keep: pathsOf(keep),
    conflict: pathsOf(conflict),
  }
}

const within =
  (...limits: readonly string[]) =>
  (path: BytePath) =>
    limits.some((limit) => isInside(path, bytePath(limit)))

test('equal maps need no changes', () => {
  const same = { a: file('a'), l: link('b'), d: folder(0o700) }
  expect(plan(same, same)).toEqual({ write: [], remove: [], keep: [], conflict: [] })
})

test('changed and deleted paths are written, and new paths are removed', () => {
  const now = { changed: file('a'), made: file('b'), link: link('c') }
  const then = { changed: file('d'), deleted: file('e'), link: link('f') }
  expect(plan(now, then)).toEqual({
    write: [
      { path: 'changed', from: file('a'), to: file('d') },
      { path: 'deleted', from: undefined, to: file('e') },
      { path: 'link', from: link('c'), to: link('f') },
    ],
    remove: [{ path: 'made', from: file('b') }],
    keep: [],
    conflict: [],
  })
})

test('a different mode alone is a write', () => {
  const now = { a: file('a', 0o644), d: folder(0o755) }
  const then = { a: file('a', 0o600), d: folder(0o700) }
  expect(paths(plan(now, then)).write).toEqual(['a', 'd'])
})

test('a folder is removed after its contents', () => {
  const now = { d: folder(), 'd/e': folder(), 'd/e/x': file('a'), 'd/y': file('b') }
  const { remove } = paths(plan(now, {}))
  expect([...remove].sort()).toEqual(['d', 'd/e', 'd/e/x', 'd/y'])
  const at = (path: string) => remove.indexOf(bytePath(path))
  expect(at('d/e/x')).toBeLessThan(at('d/e'))
  expect(at('d/e')).toBeLessThan(at('d'))
  expect(at('d/y')).toBeLessThan(at('d'))
})

test('a folder that became a file is restored with its contents', () => {
  expect(paths(plan({ x: file('a') }, { x: folder(), 'x/y': file('b') }))).toEqual({
    write: ['x', 'x/y'],
    remove: [],
    keep: [],
    conflict: [],
  })
})

test('a file that became a folder is restored, and the folder’s contents are removed', () => {
  expect(paths(plan({ x: folder(), 'x/y': file('b') }, { x: file('a') }))).toEqual({
    write: ['x'],
    remove: ['x/y'],
    keep: [],
    conflict: [],
  })
})

test('I5: an uncaptured entry at a path to be written is a conflict', () => {
  for (const reason of ['ignored', 'too-large', 'unreadable', 'unstable', 'special'] as const) {
    const result = plan({ x: uncaptured(reason) }, { x: file('a') })
    expect(paths(result)).toEqual({ write: [], remove: [], keep: [], conflict: ['x'] })
    expect(result.conflict[0]?.reason).toContain('not captured')
  }
})

test('I5: an uncaptured file at the path of a folder is a conflict, an uncaptured folder is not', () => {
  const then = { d: folder(), 'd/x': file('a') }
  expect(paths(plan({ d: uncaptured('ignored') }, then)).conflict).toEqual(['d'])
  expect(paths(plan({ d: uncaptured('ignored', true) }, then))).toEqual({
    write: ['d/x'],
    remove: [],
    keep: [],
    conflict: [],
  })
})

test('I5: a new folder with an uncaptured entry stays, and the rest of its contents is removed', () => {
  const now = {
    d: folder(),
    'd/e': folder(),
    'd/e/secret.env': uncaptured('ignored'),
    'd/made': file('a'),
  }
  const result = plan(now, {})
  expect(paths(result)).toEqual({ write: [], remove: ['d/made'], keep: ['d', 'd/e'], conflict: [] })
})

test('I5: a folder with an uncaptured entry cannot become a file', () => {
  const now = { x: folder(), 'x/big': uncaptured('too-large'), 'x/y': file('b') }
  expect(paths(plan(now, { x: file('a') })).conflict).toEqual(['x/big'])
  expect(paths(plan(now, { x: link('a') })).conflict).toEqual(['x/big'])
})

test('entries that existed uncaptured then are kept, with the folders above them', () => {
  const now = { d: folder(), 'd/data': file('a'), 'd/made': file('b') }
  const uncapturedThen = (path: BytePath) => (path === 'd/data' ? 'was ignored then' : undefined)
  const result = plan(now, {}, { uncapturedThen })
  expect(paths(result)).toEqual({
    write: [],
    remove: ['d/made'],
    keep: ['d', 'd/data'],
    conflict: [],
  })
  expect(result.keep[1]).toEqual({ path: 'd/data', reason: 'was ignored then' })
})

test('a limited rewind touches only paths inside its limits', () => {
  const now = { 'a/x': file('a'), 'b/x': file('a'), 'ab/x': file('a'), 'a/made': file('b') }
  const then = { 'a/x': file('c'), 'b/x': file('c'), 'ab/x': file('c'), 'b/gone': file('d') }
  expect(paths(plan(now, then, { includes: within('a') }))).toEqual({
    write: ['a/x'],
    remove: ['a/made'],
    keep: [],
    conflict: [],
  })
})

test('a limited rewind creates the folders above what it writes', () => {
  const then = { a: folder(0o700), 'a/b': folder(0o711), 'a/b/x': file('a'), 'a/b/y': file('b') }
  const result = plan({}, then, { includes: within('a/b/x') })
  expect(result.write).toEqual([
    { path: 'a', from: undefined, to: folder(0o700) },
    { path: 'a/b', from: undefined, to: folder(0o711) },
    { path: 'a/b/x', from: undefined, to: file('a') },
  ])
})

test('a limited rewind does not remove a folder with entries outside its limits', () => {
  const now = { d: folder(), 'd/in': file('a'), 'd/out': file('b') }
  expect(paths(plan(now, {}, { includes: (path) => path !== 'd/out' }))).toEqual({
    write: [],
    remove: ['d/in'],
    keep: ['d'],
    conflict: [],
  })
})

test('a limited rewind does not replace a folder with entries outside its limits by a file', () => {
  const now = { x: folder(), 'x/mine': file('a') }
  const result = plan(now, { x: file('b') }, { includes: (path) => path === 'x' })
  expect(paths(result)).toEqual({ write: ['x'], remove: [], keep: [], conflict: ['x/mine'] })
})

test('a limited rewind below a file that was a folder reports the file it replaces', () => {
  const now = { x: file('a') }
  const then = { x: folder(), 'x/y': file('b') }
  const result = plan(now, then, { includes: within('x/y') })
  expect(result.write).toEqual([
    { path: 'x', from: file('a'), to: folder() },
    { path: 'x/y', from: undefined, to: file('b') },
  ])
})

test('the lists are sorted by bytes', () => {
  const names = ['b', 'a/z', 'a', 'a-b', 'ä']
  const then = Object.fromEntries(names.map((name) => [name, file('a')]))
  const { write } = paths(plan({}, then))
  expect(write).toEqual(names.map(bytePath).sort())
})

test('the order of the maps does not change the plan', () => {
  const now = { a: file('a'), d: folder(), 'd/x': file('b'), 'd/skip': uncaptured('special') }
  const then = { b: file('a'), c: folder(), 'c/x': link('b') }
  const reversed = <T>(of: Readonly<Record<string, T>>) =>
    Object.fromEntries(Object.entries(of).reverse())
  expect(plan(reversed(now), reversed(then))).toEqual(plan(now, then))
})

test('paths that the user changed stay, and so does everything that would have to give way for them', () => {
  const leave = (...kept: readonly string[]) => ({
    leave: new Set(kept.map((path) => bytePath(path))),
  })
  const now = {
    mine: file('a'),
    theirs: file('b'),
    made: file('c'),
    d: folder(),
    'd/made': file('d'),
  }
  const then = { mine: file('1'), theirs: file('2'), gone: file('3') }
  expect(paths(plan(now, then, leave('mine', 'gone', 'd/made', 'nowhere')))).toEqual({
    write: ['theirs'],
    remove: ['made'],
    keep: ['d', 'd/made', 'gone', 'mine'],
    conflict: [],
  })
  // The user has a file where a folder was.
  const file1 = plan({ d: file('a') }, { d: folder(), 'd/x': file('b') }, leave('d'))
  expect(paths(file1)).toEqual({ write: [], remove: [], keep: ['d', 'd/x'], conflict: [] })
  // The user has a folder where a file was.
  const folder1 = plan(
    { d: folder(), 'd/x': file('a'), 'd/y': file('b') },
    { d: file('c') },
    leave('d/x'),
  )
  expect(paths(folder1)).toEqual({
    write: [],
    remove: ['d/y'],
    keep: ['d', 'd/x'],
    conflict: [],
  })
  // Nothing outside the restored paths is listed.
  const limited = plan(now, then, { ...leave('mine', 'd/made'), includes: within('d') })
  expect(paths(limited)).toEqual({ write: [], remove: [], keep: ['d', 'd/made'], conflict: [] })
})
