import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseExactJson } from '../../../src/model/json/exact-json.js'

test('an integer that a number cannot hold is a BigInt, and nothing else is', () => {
  const text = `{"a": 1234567890123456789, "b": [-9223372036854775808, 9007199254740993],
    "c": 9007199254740991, "d": 100000000000000000000, "e": 0.1234567890123456, "f": 1.5e300,
    "g": "1234567890123456789", "h": "\\"1234567890123456789\\\\", "1234567890123456789": 1,
    "__proto__": 12345678901234567}`
  expect(Object.entries(parseExactJson(text) as object)).toEqual([
    ['a', 1234567890123456789n],
    ['b', [-9223372036854775808n, 9007199254740993n]],
    ['c', 9007199254740991],
    ['d', 1e20],
    ['e', 0.1234567890123456],
    ['f', 1.5e300],
    ['g', '1234567890123456789'],
    ['h', '"1234567890123456789\\'],
    ['1234567890123456789', 1],
    ['__proto__', 12345678901234567n],
  ])
  expect(parseExactJson('1234567890123456789')).toBe(1234567890123456789n)
  expect(parseExactJson('["\\u0069nteger:5", 1234567890123456789]')).toEqual([
    'integer:5',
    1234567890123456789n,
  ])
  expect(() => parseExactJson('[1234567890123456789,]')).toThrow(SyntaxError)
})

test('output of JSON.stringify is read like JSON.parse does', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 4 }), fc.double({ noNaN: true }), (text, number) => {
      const both = JSON.stringify([number, number * 1e18, text, 'integer:1234567890123456789'])
      expect(parseExactJson(both)).toEqual(JSON.parse(both))
      expect(parseExactJson(text)).toEqual(JSON.parse(text))
    }),
  )
})

test('deep nesting and long texts work', () => {
  const deep = `${'['.repeat(50_000)}1234567890123456789${']'.repeat(50_000)}`
  let value = parseExactJson(deep)
  while (Array.isArray(value)) value = value[0]
  expect(value).toBe(1234567890123456789n)
  const long = JSON.stringify(['\\"'.repeat(1 << 20), 'integer:'.repeat(1 << 16)])
  expect(parseExactJson(`[${long},1234567890123456789]`)).toEqual([
    JSON.parse(long),
    1234567890123456789n,
  ])
})
