import { expect, test } from 'vitest'
import { pathToText, shownPath, type ValuePath } from '../../../src/model/serial/path.js'

test('a path reads like code', () => {
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
