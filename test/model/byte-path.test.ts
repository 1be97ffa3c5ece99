import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  bytePath,
  bytePathFromBytes,
  fsPath,
  isInside,
  joinPath,
  nameOf,
  parentOf,
  parsePathText,
  pathText,
  printablePath,
  ROOT,
} from '../../src/model/byte-path.js'

const bytes = fc.uint8Array({ minLength: 0, maxLength: 40 })
/** Mostly text, with troublesome parts: quotes, backslashes, controls, lone surrogates. */
const nasty = fc
  .array(
    fc.oneof(
      fc.constantFrom('"', '\\', '\n', '\t', '\0', ' ', '-', ':(', 'é', '€', '\u202e', '\u0085'),
      fc.string({ maxLength: 3 }),
    ),
    { maxLength: 12 },
  )
  .map((parts) => new Uint8Array(Buffer.from(parts.join(''), 'utf8')))
const anyBytes = fc.oneof(bytes, nasty)

test('any bytes survive the text form and the terminal form', () => {
  fc.assert(
    fc.property(anyBytes, (name) => {
      const path = bytePathFromBytes(name)
      expect(parsePathText(pathText(path))).toBe(path)
      expect(parsePathText(printablePath(path))).toBe(path)
    }),
    { numRuns: 2000, seed: 1 },
  )
})

test('the text form is valid Unicode, and different paths have different texts', () => {
  fc.assert(
    fc.property(anyBytes, anyBytes, (one, other) => {
      const [a, b] = [pathText(bytePathFromBytes(one)), pathText(bytePathFromBytes(other))]
      expect(Buffer.from(a, 'utf8').toString('utf8')).toBe(a)
      expect(a === b).toBe(Buffer.from(one).equals(Buffer.from(other)))
    }),
    { numRuns: 2000, seed: 2 },
  )
})

test('the terminal form has no control character and no change of direction', () => {
  fc.assert(
    fc.property(anyBytes, (name) => {
      const text = printablePath(bytePathFromBytes(name))
      expect(text).not.toMatch(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u)
    }),
    { numRuns: 2000, seed: 3 },
  )
})

test('a plain name is its own text; a name that is not UTF-8 is quoted like git does', () => {
  const of = (text: string) => bytePathFromBytes(Buffer.from(text, 'latin1'))
  const cases: readonly (readonly [string, string])[] = [
    ['src/a b.ts', 'src/a b.ts'],
    ['-rf', '-rf'],
    [':(glob)*', ':(glob)*'],
    ['new\nline', 'new\nline'],
    ['gr\xc3\xbc\xc3\x9fe', 'grüße'],
    ['\xff\xfe.txt', '"\\377\\376.txt"'],
    ['"quoted"', '"\\"quoted\\""'],
    ['\xffa\nb\\"', '"\\377a\\nb\\\\\\""'],
  ]
  expect(cases.map(([path]) => pathText(of(path)))).toEqual(cases.map(([, text]) => text))
  expect(printablePath(of('new\nline'))).toBe('"new\\nline"')
})

test('a malformed quoted path is refused, not guessed', () => {
  for (const text of ['"', '"abc', '"\\x"', '"\\9"', '"a\\"']) {
    expect(() => parsePathText(text)).toThrow(TypeError)
  }
})

test('a path for node:fs has exactly the bytes of the name', () => {
  fc.assert(
    fc.property(bytes, (name) => {
      const path = fsPath(bytePathFromBytes(name))
      const given = typeof path === 'string' ? Buffer.from(path, 'utf8') : path
      expect(given.equals(Buffer.from(name))).toBe(true)
    }),
    { numRuns: 500, seed: 4 },
  )
})

test('parts of a path', () => {
  const path = bytePath('a/b/c')
  expect([parentOf(path), nameOf(path), parentOf(bytePath('a')), nameOf(bytePath('a'))]).toEqual([
    'a/b',
    'c',
    '',
    'a',
  ])
  expect(joinPath(ROOT, 'a')).toBe('a')
  expect(joinPath(bytePath('a'), 'b')).toBe('a/b')
  expect(
    ['a', 'a/b', 'ab', 'b', ''].map((text) => isInside(bytePath(text), bytePath('a'))),
  ).toEqual([true, true, false, false, false])
  expect(isInside(path, ROOT)).toBe(true)
})
