import { expect, test } from 'vitest'
import { pathToText, resolvePath, shownPath, type ValuePath } from './path.js'

test('a path reads as code does', () => {
  const cases: readonly (readonly [ValuePath, string])[] = [
    [[], ''],
    [['messages', 3, 'tool', 'run'], 'messages[3].tool.run'],
    [[0, 'é$_1'], '[0].é$_1'],
    [['headers', 'x-id'], 'headers["x-id"]'],
    [['', '0', 'a"b\n'], '[""]["0"]["a\\"b\\n"]'],
    [['cache', 2, 'key', 'id'], 'cache[2].key.id'],
  ]
  expect(cases.map(([path]) => pathToText(path))).toEqual(cases.map(([, text]) => text))
})

test('a path in a message is never empty and never endless', () => {
  expect(shownPath([])).toBe('the value')
  expect(shownPath(['a', 1])).toBe('a[1]')
  const shown = shownPath(Array.from({ length: 100_000 }, () => 'next'))
  expect(shown).toHaveLength(301)
  expect(shown).toMatch(/^next\.next\..*….*\.next$/)
})

test('a path leads to what stands there, through every kind of object', () => {
  const inner = { deep: [undefined, 'here'] }
  const cause = new Error('why')
  const root = {
    list: [inner],
    bare: Object.assign(Object.create(null), { inner }),
    map: new Map<unknown, unknown>([
      ['first', 1],
      [inner, cause],
    ]),
    set: new Set(['one', inner]),
    error: new AggregateError([inner], 'all', { cause }),
  }
  const paths: readonly ValuePath[] = [
    [],
    ['list', 0, 'deep', 1],
    ['bare', 'inner'],
    ['map', 1, 'key', 'deep', 1],
    ['map', 1, 'value'],
    ['set', 1],
    ['error', 'cause'],
    ['error', 'errors', 0],
  ]
  const found = [root, 'here', inner, 'here', cause, inner, cause, inner]
  expect(paths.map((path) => resolvePath(root, path))).toEqual(found)
  expect(resolvePath(root, ['map', 1, 'key'])).toBe(inner)
})

test('a path that leads nowhere gives undefined, and never what a prototype holds', () => {
  const root = { list: [1], map: new Map([['a', 1]]), set: new Set([1]), text: 'abc' }
  const paths: readonly ValuePath[] = [
    ['missing', 'further'],
    ['list', 5],
    ['list', 'length', 'x'],
    ['map', 0],
    ['map', 0, 'other'],
    ['map', 7, 'key'],
    ['set', 1],
    ['text', 0],
    ['__proto__'],
    ['constructor', 'prototype'],
    ['list', 'push'],
  ]
  expect(paths.map((path) => resolvePath(root, path))).toEqual(paths.map(() => undefined))
})
