import { describe, expect, test } from 'vitest'
import type { GlobOptions } from '../../../src/snapshot/ignore/byte-set.js'
import { foldCase, matchGlob, parseGlob } from '../../../src/snapshot/ignore/glob.js'

/** Pattern and text have one character per byte. A malformed pattern matches nothing. */
function compileGlob(pattern: string, options: GlobOptions): (text: string) => boolean {
  const glob = parseGlob(pattern, options)
  if (glob === undefined) return () => false
  if (options.ignoreCase) return (text) => matchGlob(glob, foldCase(text))
  return (text) => matchGlob(glob, text)
}

const NAME = { pathname: false, ignoreCase: false }
const PATH = { pathname: true, ignoreCase: false }

describe('in a path', () => {
  test.each([
    ['a*c', ['abc', 'ac', 'a-b-c'], ['a/c', 'abcd', 'xabc']],
    ['a?c', ['abc'], ['ac', 'a/c']],
    ['a[!b]c', ['axc'], ['abc', 'a/c']],
    ['*/c', ['a/c'], ['c', 'a/b/c']],
    ['**/c', ['c', 'a/c', 'a/b/c'], ['xc', 'a/xc']],
    ['a/**', ['a/b', 'a/b/c'], ['a', 'ab']],
    ['a/**/c', ['a/c', 'a/b/c', 'a/b/b/c'], ['ac', 'a/bc']],
    ['a**/c', ['a/c', 'ab/c'], ['ac', 'a/b/c']],
    ['a**', ['a', 'ab'], ['a/b']],
    ['**/a*/**/c', ['a/c', 'x/ab/c', 'a/b/a/c'], ['c', 'x/c']],
    ['a/**\\/c', ['a/b/c'], ['a/c']],
    ['a/***/c', ['a/c', 'a/b/c'], []],
  ])('%s matches %j and none of %j', (pattern, matching, others) => {
    const matches = compileGlob(pattern, PATH)
    expect([...matching, ...others].filter(matches)).toEqual(matching)
  })
})

describe('in a name', () => {
  test.each([
    ['[a-c]', ['a', 'b', 'c'], ['d', '-']],
    ['[a-]', ['a', '-'], ['b']],
    ['[]a]', [']', 'a'], ['b']],
    ['[^]a]', ['b'], [']', 'a']],
    ['[\\]]', [']'], ['\\']],
    ['[[:digit:]x]', ['0', 'x'], ['a', ':']],
    ['[[:space:]]', [' ', '\t'], ['\v', '\f']],
    ['[\x80-\xff]', ['\xe9'], ['e']],
    ['\\*', ['*'], ['a', '\\*']],
    ['**.x', ['a.x', '.x'], ['a.xy']],
    ['*a*b', ['ab', 'xaxb', 'aabab'], ['ba', 'a']],
    ['', [''], ['a']],
  ])('%s matches %j and none of %j', (pattern, matching, others) => {
    const matches = compileGlob(pattern, NAME)
    expect([...matching, ...others].filter(matches)).toEqual(matching)
  })

  test.each(['a\\', '[a', '[', '[]', '[a-', '[[:nope:]]', '[[::]]', '*[', 'a*\\'])(
    'the malformed %s matches nothing',
    (pattern) => {
      const matches = compileGlob(pattern, NAME)
      expect(['', 'a', '[', pattern, 'a\\'].filter(matches)).toEqual([])
    },
  )

  test('with ignoreCase a letter is folded, except an escaped one and a single one in a set', () => {
    const matches = ['A', '[A-A]', '[[:upper:]]', '\\A', '[A]', '\xc9'].map((pattern) =>
      ['a', 'A', '\xe9'].filter(compileGlob(pattern, { pathname: false, ignoreCase: true })),
    )
    expect(matches).toEqual([['a', 'A'], ['a', 'A'], ['a', 'A'], [], [], []])
  })
})

test('many stars do not take exponential time', () => {
  const start = performance.now()
  expect(compileGlob(`${'*a'.repeat(50)}*b`, NAME)(`${'a'.repeat(4000)}c`)).toBe(false)
  expect(compileGlob(`${'*a'.repeat(50)}?b`, NAME)(`${'a'.repeat(4000)}b`.repeat(2))).toBe(true)
  const folders = 'a/'.repeat(2000)
  expect(compileGlob(`${'**/*a/'.repeat(30)}b*`, PATH)(`${folders}c`)).toBe(false)
  expect(compileGlob(`**/${'*/'.repeat(100)}b?`, PATH)(`${folders}cc`)).toBe(false)
  expect(performance.now() - start).toBeLessThan(2000)
})
