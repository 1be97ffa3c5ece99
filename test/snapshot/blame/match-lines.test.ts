// Matched lines are equal, in order, and as many as a longest common subsequence has.
import { expect, test } from 'vitest'
import { type Lines, matchLines, splitLines } from '../../../src/snapshot/blame/match-lines.js'

function textOf({ content, starts }: Lines, line: number): string {
  return content.toString('latin1', starts[line], starts[line + 1])
}

function allPairs(newer: Lines, older: string): readonly (readonly [number, number])[] {
  const matched = matchLines(newer, Buffer.from(older))
  expect(matched.older).toEqual(splitLines(Buffer.from(older)))
  const pairs = matched.runs.flatMap(({ newer: one, older: other, count }) =>
    Array.from({ length: count }, (_, n) => [one + n, other + n] as const),
  )
  for (const [one, other] of pairs) expect(textOf(matched.older, other)).toBe(textOf(newer, one))
  for (const side of [0, 1] as const) {
    const numbers = pairs.map((pair) => pair[side])
    expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b))
  }
  return pairs
}

function longestCommon(one: readonly string[], other: readonly string[]): number {
  let row = Array.from({ length: other.length + 1 }, () => 0)
  for (const line of one) {
    const next = [0]
    for (const [n, candidate] of other.entries())
      next.push(line === candidate ? (row[n] ?? 0) + 1 : Math.max(row[n + 1] ?? 0, next[n] ?? 0))
    row = next
  }
  return row.at(-1) ?? 0
}

test('contents that begin, end or miss a newline in the middle of a line match by whole lines', () => {
  const contents = [
    '',
    'a',
    'a\n',
    'b',
    'a\nb',
    'a\nb\n',
    'ab',
    'ba',
    'a\nbc',
    '\n',
    '\n\n',
    'b\na\nb',
    'xb\nb',
  ]
  for (const one of contents)
    for (const other of contents) {
      const newer = splitLines(Buffer.from(one))
      const linesOf = (text: string) => text.match(/[^\n]*\n|[^\n]+$/g) ?? []
      expect([one, other, allPairs(newer, other).length]).toEqual([
        one,
        other,
        longestCommon(linesOf(one), linesOf(other)),
      ])
    }
})

test('random edits of long contents keep as many lines as possible', () => {
  let seed = 7
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((seed / 2_147_483_648) * below)
  }
  for (let round = 0; round < 60; round += 1) {
    // Every tenth time more lines differ than are compared in memory.
    const isRewritten = round % 10 === 0
    const lines = Array.from(
      { length: isRewritten ? 900 : random(200) },
      () => `line ${random(80)} ${'x'.repeat(40)}\n`,
    )
    const edited = lines.flatMap((line) => {
      const dice = random(isRewritten ? 4 : 30)
      if (dice === 0) return []
      return dice === 1 ? [line, `new ${random(9)}\n`] : [line]
    })
    const newer = splitLines(Buffer.from(edited.join('')))
    expect(allPairs(newer, lines.join('')).length).toBe(longestCommon(edited, lines))
  }
})
