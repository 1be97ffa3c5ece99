// The same list has the same tree, whatever its history. Elements here are numbers with made-up hashes.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { parseStateId } from '../../../../src/model/index.js'
import { type Database, openDatabase } from '../../../../src/system/index.js'
import {
  type Child,
  MAX_CHILDREN,
  countTrailingZeros,
  emptyTree,
  extendTree,
  rebuildTree,
} from '../../../../src/ledger/states/tree/list-tree.js'
import { readList, readNodes } from '../../../../src/ledger/states/tree/node-rows.js'
import { EMPTY_TREE, type Tree } from '../../../../src/ledger/states/state-body.js'
import { NO_VAULT } from '../../../../src/ledger/encryption/index.js'
import { STATE_TABLES } from '../../../../src/ledger/states/tables.js'

const folder = mkdtempSync(join(tmpdir(), 'savestate-trees-'))
const database = openDatabase(join(folder, 'trees.db'), { timeoutMs: 1000 })
database.exec('PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY')
database.exec(STATE_TABLES)
const rows = { database, vault: NO_VAULT, key: undefined }
afterAll(() => {
  database.close()
  rmSync(folder, { recursive: true, force: true })
})

const state = parseStateId(1)

// Many zeros are far more frequent than in real hashes, so that short lists have high trees.
const HASHES = Array.from({ length: 400 }, (_, n) => ({
  id: n + 1,
  zeros: n % 3 === 0 ? (n * 7) % 23 : n % 4,
}))
for (const { id, zeros } of HASHES) {
  const bytes = Buffer.alloc(20, id % 251)
  bytes.writeUInt32BE(id, 0)
  bytes.writeUInt32BE((2 ** zeros) >>> 0, 16)
  database.run('INSERT INTO elements (id, hash, form, text) VALUES (?, ?, 0, ?)', id, bytes, '0')
}
const element = fc.constantFrom<Child>(...HASHES)
const list = fc.array(element, { maxLength: 300 })

/** A tree with nodes instead of their ids. */
type Shape = number | Shape[]
function shapeOf({ node, height, length }: Tree): Shape {
  if (length === 0) return []
  const expand = (id: number, level: number): Shape =>
    level < 0
      ? id
      : (readNodes(database, { ids: [id], state })[0] ?? []).map((it) => expand(it, level - 1))
  return expand(node, height)
}

function made(elements: readonly Child[]): Tree {
  const known = emptyTree()
  rebuildTree(rows, { known, elements, changedFrom: 0 })
  return known.tree
}

test('rebuilding a tree after a change gives the tree of a new list', () => {
  const change = fc.record({ at: fc.nat(), removed: fc.nat(40), inserted: fc.array(element) })
  fc.assert(
    fc.property(list, fc.array(change, { maxLength: 5 }), (start, changes) => {
      const known = emptyTree()
      let elements = start
      rebuildTree(rows, { known, elements, changedFrom: 0 })
      for (const { at, removed, inserted } of changes) {
        const place = at % (elements.length + 1)
        elements = elements.toSpliced(place, removed, ...inserted)
        rebuildTree(rows, { known, elements, changedFrom: place })
        expect(shapeOf(known.tree)).toEqual(shapeOf(made(elements)))
        expect(readList(rows, { tree: known.tree, state })).toEqual(elements.map(({ id }) => id))
      }
    }),
    { numRuns: 150, seed: 1 },
  )
})

test('extending a tree gives the tree of a new list', () => {
  fc.assert(
    fc.property(fc.array(list, { minLength: 1, maxLength: 4 }), (pieces) => {
      let tree = EMPTY_TREE
      for (const [place, elements] of pieces.entries()) {
        tree = extendTree(rows, { tree, state, elements })
        expect(shapeOf(tree)).toEqual(shapeOf(made(pieces.slice(0, place + 1).flat())))
      }
    }),
    { numRuns: 150, seed: 2 },
  )
})

test('no node has more than 128 children, and equal nodes are one row', () => {
  const { id } = HASHES.find(({ zeros }) => zeros === 0) ?? { id: 0 }
  const before = nodeCount(database)
  const tree = made(Array.from({ length: 5000 }, () => ({ id, zeros: 0 })))
  const [top = []] = readNodes(database, { ids: [tree.node], state })
  expect({ height: tree.height, children: top.length }).toEqual({ height: 1, children: 40 })
  expect(new Set(top).size).toBe(2)
  expect(readNodes(database, { ids: top.slice(0, 1), state })[0]).toHaveLength(MAX_CHILDREN)
  expect(nodeCount(database) - before).toBe(3)
})

test('a list whose elements all end every node has a tree', () => {
  const elements = Array.from({ length: 300 }, () => ({ id: 1, zeros: 32 }))
  expect(readList(rows, { tree: made(elements), state })).toHaveLength(300)
})

test('zeros are counted at the end of a hash', () => {
  const hashes = ['00000001', '00000002', '80000000', '00000000', 'ffffffe0', 'abcdef00']
  expect(hashes.map((end) => countTrailingZeros(`${'f'.repeat(32)}${end}`))).toEqual([
    0, 1, 31, 32, 5, 8,
  ])
})

function nodeCount(from: Database): number {
  return Number(from.get('SELECT count(*) AS count FROM nodes')?.['count'])
}
