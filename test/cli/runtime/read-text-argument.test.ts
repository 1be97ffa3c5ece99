// The position at which a text stops being JSON.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { tries } from '../../support/test-budget.js'
import { parseJsonText } from '../../../src/cli/runtime/read-text-argument.js'
import { jsonFault } from '../../../src/internal.js'

const faultIn = (text: string) => jsonFault(text).offset

test('a fault is reported at its position', () => {
  const marked: readonly string[] = [
    '^',
    '  ^',
    '{^',
    '{"a": 1,^}',
    '{"a" ^1}',
    '{"a": ^}',
    '{^a: 1}',
    "[^'a']",
    '[1, ^]',
    '[1 ^2]',
    '[0^1]',
    '{"a": 1} ^x',
    '[^"never ends]',
    '["a\\n", ^"\\x"]',
    '{"a": [1, {"b": ^tru}]}',
    '[1, 2^}',
    '[^NaN]',
    '[1, 2^',
    '^// comment\n1',
  ]
  for (const text of marked) {
    const at = text.indexOf('^')
    expect({ text, at: faultIn(text.replace('^', '')) }).toEqual({ text, at })
  }
})

test('a fault has line and column', () => {
  const parse = (text: string) => () => parseJsonText({ text, source: '"a.json"' })
  expect(parse('{\n  "é😀": 1,\n  "b" 2\n}')).toThrow('"a.json" is not JSON: line 3, column 7')
  expect(parse('["😀" x')).toThrow('"a.json" is not JSON: line 1, column 6')
  expect(parse('[1')).toThrow('"a.json" ends too early: line 1, column 3')
  expect(parse('')).toThrow(expect.objectContaining({ code: 'BAD_INPUT' }))
  expect(parse(' {"a": [1, null]} ')()).toEqual({ a: [1, null] })
})

test('text that JSON.parse accepts has no fault, and neither has the text before a fault', () => {
  const pieces = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"a"',
    '1',
    '-',
    'null',
    ' ',
    '\\',
    '"',
  )
  const texts = fc.oneof(
    fc.array(pieces).map((parts) => parts.join('')),
    fc.tuple(fc.json(), fc.nat(), pieces).map(([text, at, piece]) => {
      const place = at % (text.length + 1)
      return text.slice(0, place) + piece + text.slice(place + 1)
    }),
    fc.json(),
  )
  fc.assert(
    fc.property(texts, (text) => {
      const at = faultIn(text)
      expect({ text, isFaultless: !isParsed(text) || at === text.length }).toEqual({
        text,
        isFaultless: true,
      })
      // Up to there nothing is wrong.
      expect(faultIn(text.slice(0, at))).toBe(at)
    }),
    { numRuns: tries(2000) },
  )
})

function isParsed(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
