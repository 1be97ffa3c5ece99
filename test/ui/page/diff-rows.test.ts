// The rows of a diff: numbers, pairs, marks.
import { describe, expect, test } from 'vitest'
import {
  changeStarts,
  findRow,
  type Hunk,
  type Line,
  linesOf,
  readPatch,
  type Row,
  splitRows,
  unifiedRows,
} from '../../../ui/components/diff/rows.js'

function hunk(lines: readonly string[], at: Partial<Hunk> = {}): Hunk {
  const count = (sign: string) => lines.filter((line) => line[0] === ' ' || line[0] === sign).length
  return {
    oldStart: 1,
    newStart: 1,
    oldLines: count('-'),
    newLines: count('+'),
    heading: '',
    lines,
    ...at,
  }
}

const show = (line: Line | undefined): string =>
  line === undefined ? '' : `${line.oldNumber ?? ''}:${line.newNumber ?? ''} ${line.text}`
const showRow = (row: Row): string => {
  if (row.type === 'hunk') return `@ ${row.head.hidden} ${row.head.heading}`.trim()
  if (row.type === 'no-newline') return `no newline ${row.line.kind}`
  const [left, right] = linesOf(row)
  return row.type === 'line' ? show(left) : `${show(left)} | ${show(right)}`
}

const CHANGE = hunk([' a', '-b', '-c', '+B', ' d', '+e'])

test('unified: each line has the number of its side', () => {
  expect(unifiedRows(readPatch([CHANGE])).map(showRow)).toEqual([
    '@ 0',
    '1:1 a',
    '2: b',
    '3: c',
    ':2 B',
    '4:3 d',
    ':4 e',
  ])
})

test('split: removed and added lines are side by side, the rest of the longer side alone', () => {
  expect(splitRows(readPatch([CHANGE])).map(showRow)).toEqual([
    '@ 0',
    '1:1 a | 1:1 a',
    '2: b | :2 B',
    '3: c | ',
    '4:3 d | 4:3 d',
    ' | :4 e',
  ])
})

test('a line and its replacement are a pair, and only they', () => {
  const lines = readPatch([CHANGE]).hunks[0]?.lines ?? []
  expect(lines.map(({ pair }) => pair?.text)).toEqual([
    undefined,
    'B',
    undefined,
    'b',
    undefined,
    undefined,
  ])
})

test('a hunk says how many lines are hidden before it', () => {
  const second = hunk([' x'], { oldStart: 41, newStart: 42, heading: 'main()' })
  const heads = readPatch([hunk([' a'], { oldStart: 11, newStart: 11 }), second]).hunks
  expect(heads.map(({ head }) => [head.hidden, head.heading])).toEqual([
    [10, ''],
    [29, 'main()'],
  ])
})

test('the texts of both sides, and the index of each line in its side', () => {
  const patch = readPatch([CHANGE])
  expect([patch.oldText, patch.newText]).toEqual(['a\nb\nc\nd', 'a\nB\nd\ne'])
  for (const { kind, index, text } of patch.hunks[0]?.lines ?? [])
    expect((kind === 'removed' ? patch.oldText : patch.newText).split('\n')[index]).toBe(text)
})

test('a missing newline at the end is a row of the line before it', () => {
  const patch = readPatch([hunk(['-a', '\\ No newline at end of file', '+b'])])
  expect(unifiedRows(patch).map(showRow)).toEqual(['@ 0', '1: a', 'no newline removed', ':1 b'])
  expect(splitRows(patch).map(showRow)).toEqual(['@ 0', '1: a | :1 b', 'no newline removed'])
})

describe('carriage returns', () => {
  test('are not shown if every line ends with one', () => {
    const patch = readPatch([hunk([' a\r', '-b\r', '+c\r'])])
    expect([patch.isCrlf, patch.oldText, patch.newText]).toEqual([true, 'a\nb', 'a\nc'])
  })
  test('are a part of the line if they differ', () => {
    const patch = readPatch([hunk(['-a', '+a\r'])])
    expect([patch.isCrlf, patch.newText]).toEqual([false, 'a\r'])
  })
})

test('the longest line counts tabs as four columns', () => {
  expect(readPatch([hunk([' \t\tab', '+abcde'])]).longestLine).toBe(10)
})

test('changes that are close to each other have one start', () => {
  const near = hunk(['-a', ' 1', ' 2', '+b'])
  const far = hunk(['+a', ...Array.from({ length: 7 }, () => ' x'), '-b'], {
    oldStart: 100,
    newStart: 100,
  })
  const patch = readPatch([near, far])
  // Rows 0 and 5 are the heads of the hunks.
  expect(changeStarts(unifiedRows(patch))).toEqual([1, 6, 14])
  expect(changeStarts(splitRows(patch))).toEqual([1, 6, 14])
})

test('a line is found again in another layout and with more context', () => {
  const line = readPatch([CHANGE]).hunks[0]?.lines[4]
  if (line === undefined) throw new Error('no line')
  expect(
    showRow(splitRows(readPatch([CHANGE]))[findRow(splitRows(readPatch([CHANGE])), line)] as Row),
  ).toBe('4:3 d | 4:3 d')
  expect(findRow(unifiedRows(readPatch([hunk([' z'])])), line)).toBe(-1)
})
