import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type BytePath, bytePathFromBytes, ROOT } from '../../../../src/model/index.js'
import { SKIP_REASONS, type SkipReason } from '../../../../src/model/entry.js'
import { parseObjectId } from '../../../../src/model/ids.js'
import {
  type Node,
  ContentNode,
  FolderNode,
  SkippedNode,
  visitNodes,
} from '../../../../src/snapshot/capture/stat-cache/node.js'
import { encodeNodes } from '../../../../src/snapshot/capture/stat-cache/node-columns.js'
import { ownerNumber } from '../../../../src/snapshot/capture/scan/owners.js'
import { PackedNodes } from '../../../../src/snapshot/capture/stat-cache/packed-nodes.js'

const REASONS = Object.keys(SKIP_REASONS).filter((key): key is SkipReason => key in SKIP_REASONS)

const name: fc.Arbitrary<BytePath> = fc
  .uint8Array({ minLength: 1, maxLength: 255 })
  .map((bytes) => bytePathFromBytes(bytes))
const stamp = fc.record({
  size: fc.nat({ max: 2 ** 40 }),
  mtimeNs: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  ctimeNs: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  ino: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  isStable: fc.boolean(),
  epoch: fc.nat(3),
})
const owner = fc.nat(2).map((number) => ownerNumber(1000, 1000 + number))
const id = fc.option(
  fc.nat().map((seed) => parseObjectId(createHash('sha1').update(`${seed}`).digest('hex'))),
  { nil: undefined },
)
const mode = fc.nat(0o7777)
const viaIndex = fc.boolean()
const key = fc.constantFrom('', 'a'.repeat(20), 'b'.repeat(20), '1 2 3 4|absent')

const content: fc.Arbitrary<Node> = fc
  .record({
    kind: fc.constantFrom('file' as const, 'link' as const),
    name,
    viaIndex,
    stamp,
    mode,
    owner,
    id,
  })
  .map((facts) =>
    Object.assign(new ContentNode(facts.name, facts), facts.stamp, {
      mode: facts.mode,
      owner: facts.owner,
      id: facts.id,
    }),
  )
const skipped: fc.Arbitrary<Node> = fc
  .record({ name, reason: fc.constantFrom(...REASONS), isFolder: fc.boolean(), stamp })
  .map(({ stamp: stamped, ...facts }) => Object.assign(new SkippedNode(facts.name, facts), stamped))
const { folder } = fc.letrec<{ folder: FolderNode; node: Node }>((tie) => ({
  folder: fc
    .record({
      name,
      viaIndex,
      stamp,
      own: fc.record({
        mode,
        owner,
        id,
        rulesKey: key,
        ignoreStamp: key,
        ignoreKey: key,
        hasRuleFiles: fc.boolean(),
        children: fc.array(tie('node'), { maxLength: 6 }),
      }),
    })
    .map((facts) => Object.assign(new FolderNode(facts.name, facts), facts.stamp, facts.own)),
  node: fc.oneof({ depthSize: 'small' }, content, skipped, tie('folder')),
}))

test('decoding the columns restores every field of every node, and whether it was kept', () => {
  fc.assert(
    fc.property(folder, fc.nat(3), (root, keptEpoch) => {
      const kept = (node: Node) => node.epoch <= keptEpoch
      const back = packed(root, keptEpoch).root
      expect(factsOf(back, (node) => node.epoch === 0)).toEqual(factsOf(root, kept))
    }),
    { seed: 11, numRuns: 300 },
  )
})

test('a decoded node has the row of its encoding', () => {
  fc.assert(
    fc.property(folder, (root) => {
      const back = packed(root, 0)
      expect(rowsOf(back.root)).toEqual(rowsOf(root))
      expect(rowsOf(root)).toEqual(Array.from({ length: back.table.count }, (_, i) => i))
    }),
    { seed: 12, numRuns: 100 },
  )
})

test('an empty project is decoded', () => {
  const root = new FolderNode(ROOT, { viaIndex: false })
  expect(packed(root, 0).root.children).toEqual([])
})

test('a wide and a deep tree are decoded', () => {
  const wide = new FolderNode(ROOT, { viaIndex: false })
  for (let i = 0; i < 20_000; i++) {
    wide.children.push(new ContentNode(bytes(`f${i}`), { kind: 'file', viaIndex: false }))
  }
  const back = packed(wide, 0).root
  expect(back.children.map((child) => child.name)).toEqual(wide.children.map((child) => child.name))

  const deep = new FolderNode(ROOT, { viaIndex: false })
  let at = deep
  for (let i = 0; i < 1000; i++) {
    const child = new FolderNode(bytes('d'), { viaIndex: false })
    at.children.push(child)
    at = child
  }
  expect(rowsOf(packed(deep, 0).root).length).toBe(1001)
})

test('the totals of a packed folder are right without creating its children', () => {
  fc.assert(
    fc.property(folder, (root) => {
      const back = packed(root, 0)
      for (const [row, node] of foldersOf(root)) {
        const below: Node[] = []
        visitNodes(node, (inner) => below.push(inner))
        const contents = below.filter(({ kind }) => kind === 'file' || kind === 'link')
        const modes: string[] = []
        const closed = Object.assign(new FolderNode(ROOT, { viaIndex: false }), { row })
        back.eachMode(closed, (kind, mode) => modes.push(`${kind} ${mode}`))
        expect(back.tally(closed)).toEqual({
          files: contents.length,
          bytes: contents.reduce((sum, { size }) => sum + size, 0),
          skipped: below.filter(({ kind }) => kind === 'skipped').length,
          owned: ownedBelow(node),
        })
        expect(modes).toEqual(
          below.flatMap((inner) =>
            inner.kind === 'file' || inner.kind === 'folder' ? `${inner.kind} ${inner.mode}` : [],
          ),
        )
      }
    }),
    { seed: 13, numRuns: 100 },
  )
})

function ownedBelow(folder: FolderNode): number {
  return folder.children.reduce((sum, child) => {
    const isOwned = child.kind !== 'skipped' && child.owner !== folder.owner
    return sum + (isOwned ? 1 : 0) + (child.kind === 'folder' ? ownedBelow(child) : 0)
  }, 0)
}

function packed(root: FolderNode, keptEpoch: number): PackedNodes {
  const { bytes: encoded, sizes } = encodeNodes(root, keptEpoch)
  const memory = new SharedArrayBuffer(encoded.length)
  encoded.copy(Buffer.from(memory))
  return new PackedNodes(memory, 0, sizes)
}

function foldersOf(root: FolderNode): [number, FolderNode][] {
  const folders: [number, FolderNode][] = [[root.row, root]]
  visitNodes(root, (node) => {
    if (node.kind === 'folder') folders.push([node.row, node])
  })
  return folders
}

/** All fields that the cache must keep. */
function factsOf(node: Node, isKept: (node: Node) => boolean): unknown {
  const { kind, name: text, size, mtimeNs, ctimeNs, ino, isStable } = node
  const common = { kind, text, size, mtimeNs, ctimeNs, ino, isStable, kept: isKept(node) }
  if (node.kind === 'skipped') return { ...common, reason: node.reason, isFolder: node.isFolder }
  const { mode: bits, owner: number, id: object, viaIndex: via } = node
  const captured = { ...common, bits, number, object, via }
  if (node.kind !== 'folder') return captured
  const { rulesKey, ignoreStamp, ignoreKey, hasRuleFiles } = node
  const children = node.children.map((child) => factsOf(child, isKept))
  return { ...captured, rulesKey, ignoreStamp, ignoreKey, hasRuleFiles, children }
}

/** In preorder. */
function rowsOf(node: Node): number[] {
  return [node.row, ...(node.kind === 'folder' ? node.children.flatMap(rowsOf) : [])]
}

function bytes(text: string): BytePath {
  return bytePathFromBytes(Buffer.from(text, 'latin1'))
}
