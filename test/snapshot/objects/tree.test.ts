import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bytePathFromBytes } from '../../../src/model/index.js'
import { parseObjectId } from '../../../src/model/ids.js'
import { git, scratchFolders } from '../../support/scratch-git.js'
import { EMPTY_TREE, objectIdOf } from '../../../src/snapshot/objects/object-id.js'
import {
  decodeTree,
  encodeTree,
  GIT_MODE,
  type TreeEntry,
  treeOrder,
} from '../../../src/snapshot/objects/tree.js'

const repository = scratchFolders()()
git(repository, ['init', '-q', '--bare'])

const TYPE_OF = { '100644': 'blob', '100755': 'blob', '120000': 'blob', '40000': 'tree' } as const

const name = fc
  .oneof(
    fc.uint8Array({ minLength: 1, maxLength: 8 }),
    // Names that differ only in what follows them are the ones that sort wrong.
    fc
      .array(fc.constantFrom('a', 'a', '.', '-', '0', '\x01', '\xff', ' ', '\n'), {
        minLength: 1,
        maxLength: 4,
      })
      .map((parts) => Buffer.from(parts.join(''), 'latin1')),
  )
  .map((bytes) => bytes.map((byte) => (byte === 0 || byte === 0x2f ? 0x61 : byte)))
  .map((bytes) => bytePathFromBytes(bytes))
  .filter((text) => text !== '.' && text !== '..')

const entries: fc.Arbitrary<TreeEntry[]> = fc
  .uniqueArray(fc.tuple(name, fc.constantFrom(...Object.values(GIT_MODE)), fc.nat()), {
    selector: ([text]) => text,
    maxLength: 30,
  })
  .map((rows) =>
    rows
      .map(([text, mode, seed]) => ({ mode, name: text, id: idOf(seed) }))
      .sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1)),
  )

test('a tree has the id that git computes, whatever the names', () => {
  fc.assert(
    fc.property(entries, (tree) => {
      const lines = tree.map(
        ({ mode, name: text, id }) => `${mode.padStart(6, '0')} ${TYPE_OF[mode]} ${id}\t${text}\0`,
      )
      // In random order: git sorts, and must arrive at the order of treeOrder.
      const input = Buffer.from(lines.reverse().join(''), 'latin1')
      const id = git(repository, ['mktree', '-z', '--missing'], input).toString('latin1').trim()
      expect(objectIdOf('tree', encodeTree(tree))).toBe(id)
    }),
    { seed: 5, numRuns: 80 },
  )
})

test('decoding restores what was encoded', () => {
  fc.assert(
    fc.property(entries, (tree) => {
      expect(decodeTree(encodeTree(tree))).toEqual(tree)
    }),
    { seed: 6, numRuns: 300 },
  )
})

test('no entries make the empty tree', () => {
  expect(objectIdOf('tree', encodeTree([]))).toBe(EMPTY_TREE)
  expect(decodeTree(Buffer.alloc(0))).toEqual([])
})

test('a truncated tree is not read as a shorter one', () => {
  const bytes = encodeTree([
    { mode: GIT_MODE.file, name: bytePathFromBytes(Buffer.from('a')), id: idOf(1) },
    { mode: GIT_MODE.file, name: bytePathFromBytes(Buffer.from('b')), id: idOf(2) },
  ])
  const whole = bytes.length / 2
  for (let length = 1; length < bytes.length; length++) {
    if (length === whole) continue
    expect(() => decodeTree(bytes.subarray(0, length))).toThrow(/malformed|out of range/)
  }
})

function idOf(seed: number) {
  return parseObjectId(createHash('sha1').update(String(seed)).digest('hex'))
}

function orderOf({ mode, name: text }: TreeEntry): string {
  return treeOrder(text, mode === GIT_MODE.folder)
}
