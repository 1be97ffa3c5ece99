import fc from 'fast-check'
import { expect, test } from 'vitest'
import { tries } from '../../support/test-budget.js'
import { git, scratchFolders, storeBlobs } from '../../support/scratch-git.js'
import { type LineChanges, lineChanges } from '../../../src/snapshot/objects/line-changes.js'

const repository = scratchFolders()()
git(repository, ['init', '-q', '--bare'])

type Pair = readonly [before: Buffer, after: Buffer]

const line = fc.constantFrom(
  'a\n',
  'b\n',
  '}\n',
  '\n',
  'a',
  'a\r\n',
  'long line\n',
  '\xff\n',
  '\0\n',
)
const lines: fc.Arbitrary<readonly string[]> = fc.array(line, { maxLength: 12 })
const anyPair = fc.tuple(lines, lines)
/** A typical edit: some lines in one range are replaced. */
const editedPair = fc
  .tuple(lines, fc.array(fc.nat(30), { maxLength: 4 }), fc.nat(12), fc.nat(4))
  .map(([before, added, at, removed]) => {
    const fresh = added.map((number) => `new ${number}\n`)
    return [before, before.toSpliced(at, removed, ...fresh)] as const
  })

test("if the number of changed lines is certain, it equals git's", () => {
  const generated = [
    ...fc.sample(anyPair, { seed: 11, numRuns: tries(1500) }),
    ...fc.sample(editedPair, { seed: 12, numRuns: tries(1500) }),
  ].map(([before, after]) => pairOf(before.join(''), after.join('')))
  const pairs = generated.filter(([before, after]) => !before.equals(after))
  const ours = pairs.map(([before, after]) => lineChanges(before, after))
  const theirs = countedByGit(pairs)
  const isSure = ours.map((changes) => changes !== undefined)
  expect(ours.filter((_, i) => isSure[i])).toEqual(theirs.filter((_, i) => isSure[i]))
  expect(isSure.filter(Boolean).length).toBeGreaterThan(pairs.length / 2)
})

test.each<readonly [why: string, before: string, after: string, changes: LineChanges | undefined]>([
  ['a line is added', 'a\nb\n', 'a\nb\nc\n', { insertions: 1, deletions: 0 }],
  ['a line goes', 'a\nb\nc\n', 'a\nc\n', { insertions: 0, deletions: 1 }],
  ['a line becomes another', 'a\nb\nc\n', 'a\nx\nc\n', { insertions: 1, deletions: 1 }],
  ['the last line gets its end', 'a\nb', 'a\nb\n', { insertions: 1, deletions: 1 }],
  ['all is new', '', 'a\nb', { insertions: 2, deletions: 0 }],
  ['all is gone', 'a\nb', '', { insertions: 0, deletions: 2 }],
  ['it becomes binary', 'a\n', 'a\n\0', { insertions: 0, deletions: 0 }],
  ['a line in the middle stays', 'a\n}\nb\n', 'x\n}\ny\n', undefined],
  ['lines change places', 'a\nb\n', 'b\na\n', undefined],
])('%s', (_why, before, after, changes) => {
  expect(lineChanges(...pairOf(before, after))).toEqual(changes)
})

test('a long replaced range is left to git; a long added range is counted', () => {
  const long = 'some text\n'.repeat(9000)
  expect(lineChanges(...pairOf(`a\n${long}b\n`, `a\n${long.toUpperCase()}b\n`))).toBe(undefined)
  const added = lineChanges(...pairOf('a\nb\n', `a\n${long}b\n`))
  expect(added).toEqual({ insertions: 9000, deletions: 0 })
})

function pairOf(before: string, after: string): Pair {
  return [Buffer.from(before, 'latin1'), Buffer.from(after, 'latin1')]
}

function countedByGit(pairs: readonly Pair[]): LineChanges[] {
  const ids = storeBlobs(repository, pairs.flat())
  const treeOf = (side: 0 | 1) => {
    const entries = pairs.map(
      (_, i) => `100644 blob ${ids[i * 2 + side]}\tf${String(i).padStart(6, '0')}\n`,
    )
    return git(repository, ['mktree'], entries.join('')).toString('latin1').trim()
  }
  const output = git(repository, ['diff-tree', '-r', '--numstat', treeOf(0), treeOf(1)])
  const rows = output.toString('latin1').trimEnd().split('\n')
  return rows.map((row) => {
    const [insertions = '', deletions = ''] = row.split('\t')
    const numberOf = (text: string) => (text === '-' ? 0 : Number(text))
    return { insertions: numberOf(insertions), deletions: numberOf(deletions) }
  })
}
