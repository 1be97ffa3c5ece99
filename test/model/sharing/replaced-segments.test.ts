// Which segments a base replaces, and whether it continues what a host has.
import { expect, test } from 'vitest'
import {
  areAfter,
  parseSegment,
  replacedBy,
  type SegmentContent,
} from '../../../src/model/index.js'

const EMPTY = { version: 1, nextNumber: 1, elements: [], nodes: [], states: [], rows: {} } as const

function segment(letter: string, replaced?: readonly string[]) {
  const isBase = replaced !== undefined
  const content: SegmentContent = { ...EMPTY, isBase, removed: {}, ...(isBase && { replaced }) }
  return { hash: letter.repeat(64), content }
}

const mark = (letter: string) => letter.repeat(16)
const hashOf = (letter: string) => letter.repeat(64)

test('a base replaces all segments, and what an earlier base replaced', () => {
  expect(replacedBy([])).toEqual([])
  expect(replacedBy([segment('a'), segment('b')])).toEqual([mark('a'), mark('b')])
  const base = segment('c', [mark('a'), mark('b')])
  expect(replacedBy([base, segment('d')])).toEqual(['a', 'b', 'c', 'd'].map(mark))
  // A base that came while the segments before it were read.
  expect(replacedBy([segment('b'), base])).toEqual(['a', 'b', 'c'].map(mark))
})

test('a base continues each segment that it replaces, and no other', () => {
  const base = segment('c', [mark('a'), mark('b')])
  expect(areAfter([base, segment('d')], hashOf('a'))).toBe(true)
  expect(areAfter([base, segment('d')], hashOf('e'))).toBe(false)
})

test('segments without a base were checked when they were read', () => {
  expect(areAfter([segment('b')], hashOf('a'))).toBe(true)
})

test('marks from another host are checked', () => {
  const parse = (content: object) => parseSegment(content, 'session')
  const { content } = segment('c', [mark('a')])
  expect(parse(content)).toEqual(content)
  for (const wrong of [
    { ...content, isBase: false },
    { ...content, replaced: 'a' },
    { ...content, replaced: [mark('z')] },
    { ...content, replaced: [[mark('a')]] },
  ])
    expect(() => parse(wrong)).toThrow(expect.objectContaining({ code: 'BAD_INPUT' }))
})
