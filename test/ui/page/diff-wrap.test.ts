// The heights of wrapped lines.
import { expect, test } from 'vitest'
import { readPatch, splitRows, unifiedRows } from '../../../ui/components/diff/rows.js'
import { rowAt, rowTops, screenLines } from '../../../ui/components/diff/wrap.js'

test.each([
  ['', 10, 1],
  ['0123456789', 10, 1],
  ['0123456789a', 10, 2],
  [' '.repeat(21), 10, 3],
  ['\tabcdef', 10, 1],
  ['\tabcdefg', 10, 2],
  ['abc\tdef', 4, 2],
  ['漢字漢字漢', 10, 1],
  ['漢字漢字漢字', 10, 2],
  ['a漢字漢字漢', 10, 2],
  ['a\u202eb', 4, 2],
  ['😀😀😀', 4, 2],
])('%j takes with %i columns %i lines of the screen', (text, columns, lines) => {
  expect(screenLines(text, columns)).toBe(lines)
})

test('a line that is cut has room for the remark', () => {
  expect(screenLines('x'.repeat(1_000_000), 100)).toBeLessThan(1000)
})

test('the tops of rows are sums of their heights; both sides of a split view have one height', () => {
  const lines = [' short', '-0123456789', '+0123456789012345678901234', ' end']
  const hunk = { oldStart: 1, newStart: 1, oldLines: 3, newLines: 3, heading: '', lines }
  const patch = readPatch([hunk])
  expect([...rowTops(unifiedRows(patch), undefined)]).toEqual([0, 1, 2, 3, 4, 5])
  const unified = rowTops(unifiedRows(patch), 10)
  expect([...unified]).toEqual([0, 1, 2, 3, 6, 7])
  expect([...rowTops(splitRows(patch), 10)]).toEqual([0, 1, 2, 5, 6])
  expect([0, 2.5, 3, 5.9, 6, 100].map((line) => rowAt(unified, line))).toEqual([0, 2, 3, 3, 4, 4])
  expect(rowAt(rowTops([], 10), 3)).toBe(0)
})
