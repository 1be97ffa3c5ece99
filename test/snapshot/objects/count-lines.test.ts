import fc from 'fast-check'
import { expect, test } from 'vitest'
import { tries } from '../../support/test-budget.js'
import { git, scratchFolders, storeBlobs } from '../../support/scratch-git.js'
import { countLines, linesOf, startLineCount } from '../../../src/snapshot/objects/count-lines.js'
import { EMPTY_TREE } from '../../../src/snapshot/objects/object-id.js'

const repository = scratchFolders()()
git(repository, ['init', '-q', '--bare'])

const piece = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('\n', 'a', 'bc\n', '\r\n', '\r', '\n\n', '\xff') },
  { weight: 1, arbitrary: fc.constant('\0') },
  // Around the 8,000 bytes within which a NUL counts.
  { weight: 2, arbitrary: fc.integer({ min: 7990, max: 8005 }).map((size) => 'x'.repeat(size)) },
)
const content = fc
  .array(piece, { maxLength: 8 })
  .map((pieces) => Buffer.from(pieces.join(''), 'latin1'))

test('lines are counted as git counts the insertions of a new file', () => {
  const edges = ['', '\n', 'a', 'a\n', 'a\nb', '\0', `${'x'.repeat(7999)}\0\n`, 'a\n\0\n']
  for (const size of [7998, 7999, 8000, 8001]) edges.push(`${'\n'.repeat(size)}\0\n`)
  const contents = [
    ...edges.map((text) => Buffer.from(text, 'latin1')),
    ...fc.sample(content, { seed: 7, numRuns: tries(400) }),
  ]
  expect(contents.map(linesOf)).toEqual(countedByGit(contents))
})

test('a file counted in chunks has the same lines as the whole file', () => {
  fc.assert(
    fc.property(content, fc.array(fc.nat(9000), { maxLength: 6 }), (bytes, cuts) => {
      const ends = [...cuts, bytes.length].map((cut) => Math.min(cut, bytes.length)).sort(ascending)
      const state = startLineCount()
      let from = 0
      for (const end of ends) {
        countLines(state, bytes.subarray(from, end))
        from = end
      }
      expect(state.isBinary ? 0 : state.count).toBe(linesOf(bytes))
    }),
    { seed: 8, numRuns: tries(500) },
  )
})

test('a few bytes are counted at any memory offset', () => {
  const memory = Buffer.from('\n\n\n\n\n\n\n\n')
  for (let start = 0; start < 4; start += 1)
    for (let size = 0; size <= 4; size += 1)
      expect(linesOf(memory.subarray(start, start + size))).toBe(size)
})

test('contents of every length have the right number of lines', () => {
  for (const size of [0, 15, 16, 17, 4079, 4080, 4081, 70_000, 262_144, 262_145, 600_001]) {
    const all = Buffer.alloc(size, '\n')
    const some = Buffer.from(Uint8Array.from({ length: size }, (_, at) => (at % 7 === 3 ? 10 : 65)))
    expect(linesOf(all)).toBe(size)
    const ends = Math.floor((size + 3) / 7)
    const isOpen = size > 0 && some.at(-1) !== 10
    expect(linesOf(some)).toBe(ends + (isOpen ? 1 : 0))
  }
})

function countedByGit(contents: readonly Buffer[]): number[] {
  const lines = storeBlobs(repository, contents).map(
    (id, i) => `100644 blob ${id}\tf${String(i).padStart(6, '0')}\n`,
  )
  const tree = git(repository, ['mktree'], lines.join('')).toString('latin1').trim()
  const output = git(repository, ['diff-tree', '-r', '--numstat', EMPTY_TREE, tree])
  const counts = output
    .toString('latin1')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split('\t')[0])
  return counts.map((count) => (count === '-' ? 0 : Number(count)))
}

function ascending(a: number, b: number): number {
  return a - b
}
