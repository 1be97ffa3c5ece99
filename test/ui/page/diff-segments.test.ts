// The pieces of a line: changed words, syntax, spaces at the end.
import { describe, expect, test } from 'vitest'
import {
  changedWords,
  compareWords,
  MAX_SHOWN,
  segmentsOf,
} from '../../../ui/components/diff/segments.js'
import { readPatch } from '../../../ui/components/diff/rows.js'

const cut = (text: string, ranges: readonly { readonly start: number; readonly end: number }[]) =>
  ranges.map(({ start, end }) => text.slice(start, end))

describe('words', () => {
  test('that differ are found on both sides', () => {
    const [old, fresh] = ['const port = 80', 'const port = 443 // TLS']
    const [removed, added] = compareWords(old, fresh)
    expect(cut(old, removed)).toEqual(['80'])
    expect(cut(fresh, added)).toEqual(['443 // TLS'])
  })
  test('spaces count', () => {
    const [removed, added] = compareWords('a = b', 'a  = b')
    expect([removed, added]).not.toEqual([[], []])
  })
  test('are not marked in lines that have little in common', () => {
    expect(compareWords('import fs from "node:fs"', 'return users.includes(user)')).toEqual([
      [],
      [],
    ])
  })
  test('are not compared in long lines', () => {
    const long = 'word '.repeat(300)
    expect(compareWords(long, `${long}more`)).toEqual([[], []])
  })
  test('of a line without a counterpart are none', () => {
    const patch = readPatch([
      { oldStart: 1, oldLines: 0, newStart: 1, newLines: 1, heading: '', lines: ['+a b'] },
    ])
    expect(patch.hunks[0]?.lines.map(changedWords)).toEqual([[]])
  })
})

const NOTHING = { tokens: [], words: [], markTrailing: false }

test('tokens and words overlap freely, and the pieces are the text', () => {
  const text = 'let answer = 42  '
  const segments = segmentsOf(text, {
    tokens: [
      { end: 3, class: 1 },
      { end: 13, class: 0 },
      { end: 15, class: 4 },
    ],
    words: [{ start: 4, end: 14 }],
    markTrailing: true,
  })
  expect(segments.map((one) => one.text).join('')).toBe(text)
  expect(
    segments.map(({ text: part, class: token, isWord, isTrailing }) => [
      part,
      token,
      isWord,
      isTrailing,
    ]),
  ).toEqual([
    ['let', 1, false, false],
    [' ', 0, false, false],
    ['answer = ', 0, true, false],
    ['4', 4, true, false],
    ['2', 4, false, false],
    ['  ', 0, false, true],
  ])
})

test('an empty line has no pieces, a very long one is cut', () => {
  expect(segmentsOf('', NOTHING)).toEqual([])
  const shown = segmentsOf('x'.repeat(MAX_SHOWN + 10), NOTHING)
  expect(shown.map(({ text }) => text.length)).toEqual([MAX_SHOWN])
})
