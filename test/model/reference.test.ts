import { expect, test } from 'vitest'
import { makeId } from '../../src/model/ids.js'
import {
  parseAgentName,
  parseName,
  parseReason,
  parseReference,
} from '../../src/model/reference.js'

const BAD_INPUT = expect.objectContaining({ code: 'BAD_INPUT' })

test('a reference is a number or a text', () => {
  expect(parseReference('1')).toEqual({ type: 'number', number: 1 })
  expect(parseReference('999999999')).toEqual({ type: 'number', number: 999_999_999 })
  for (const text of ['0', '01', '-1', '1e3', 'before-refactor', 'bcdf', '1234567890', ' 1']) {
    expect(parseReference(text)).toEqual({ type: 'text', text })
  }
  for (const text of ['', 'x'.repeat(201)]) expect(() => parseReference(text)).toThrow(BAD_INPUT)
})

test('no id can be mistaken for a number', () => {
  const id = makeId((bytes) => new Uint8Array(bytes).fill(7))
  expect(parseReference(id)).toEqual({ type: 'text', text: id })
})

test('a name is trimmed, and is never a number, an option or a control sequence', () => {
  expect(parseName('  before the refactor ')).toBe('before the refactor')
  expect(parseName('v1.2')).toBe('v1.2')
  expect(parseName('größe')).toBe('größe')
  for (const text of [
    '',
    '   ',
    '12',
    '007',
    '-y',
    '--yes',
    'a\nb',
    'a\u001b[31m',
    'x'.repeat(201),
  ]) {
    expect(() => parseName(text)).toThrow(BAD_INPUT)
  }
})

test('a reason may have several lines, but no NUL and a maximum length', () => {
  expect(parseReason('first line\nsecond')).toBe('first line\nsecond')
  for (const text of ['a\0b', 'x'.repeat(10_001)]) {
    expect(() => parseReason(text)).toThrow(BAD_INPUT)
  }
})

test.each(['works', 'v1.2', 'before the größe: a/b', 'x@2_+-'])(
  'an agent may give the name %s',
  (name) => {
    expect(parseAgentName(name)).toBe(name)
  },
)

test.each([
  '$(touch x)',
  '`id`',
  'a"b',
  "a'b",
  'a\\b',
  '-rf',
  'a;b',
  'a\u00adb',
  '\u{e0041}',
  '~',
  '.x',
])('an agent cannot give the name %j', (name) => {
  expect(() => parseAgentName(name)).toThrow(BAD_INPUT)
})
