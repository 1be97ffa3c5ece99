import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type BytePath, bytePathOf, ROOT } from '../../model/index.js'
import { SKIP_REASONS, type SkipReason } from '../../model/entry.js'
import { parseObjectId } from '../../model/ids.js'
import { type FolderNode, type Node, newContent, newFolder, newSkipped } from './node.js'
import { encodeNodes } from './node-columns.js'
import { PackedNodes } from './packed-nodes.js'

const REASONS = Object.keys(SKIP_REASONS).filter((key): key is SkipReason => key in SKIP_REASONS)

const name: fc.Arbitrary<BytePath> = fc
  .uint8Array({ minLength: 1, maxLength: 255 })
  .map((bytes) => bytePathOf(bytes))
const stamp = fc.record({
  size: fc.maxSafeNat(),
  mtimeNs: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  ctimeNs: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  ino: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  settled: fc.boolean(),
  epoch: fc.nat(3),
})
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
    id,
  })
  .map((facts) =>
    Object.assign(newContent(facts.name, facts), facts.stamp, { mode: facts.mode, id: facts.id }),
  )
const skipped: fc.Arbitrary<Node> = fc
  .record({ name, reason: fc.constantFrom(...REASONS), isFolder: fc.boolean(), stamp })
  .map(({ stamp: stamped, ...facts }) => Object.assign(newSkipped(facts.name, facts), stamped))
const { folder } = fc.letrec<{ folder: FolderNode; node: Node }>((tie) => ({
  folder: fc
    .record({
      name,
      viaIndex,
      stamp,
      own: fc.record({
        mode,
        id,
        rulesKey: key,
        ignoreStamp: key,
        ignoreKey: key,
        hasRuleFiles: fc.boolean(),
        children: fc.array(tie('node'), { maxLength: 6 }),
      }),
    })
    .map((facts) => Object.assign(newFolder(facts.name, facts), facts.stamp, facts.own)),
  node: fc.oneof({ depthSize: 'small' }, content, skipped, tie('folder')),
}))

test('every fact of every node comes back from the columns, and whether it was kept', () => {
  fc.assert(
    fc.property(folder, fc.nat(3), (root, keptEpoch) => {
      const kept = (node: Node) => node.epoch <= keptEpoch
      const back = new PackedNodes(encodeNodes(root, keptEpoch).bytes).root
      expect(factsOf(back, (node) => node.epoch === 0)).toEqual(factsOf(root, kept))
    }),
    { seed: 11, numRuns: 300 },
  )
})

test('a node that comes back has the place that it was given', () => {
  fc.assert(
    fc.property(folder, (root) => {
      const { bytes, table } = encodeNodes(root, 0)
      const back = new PackedNodes(bytes)
      expect(placesOf(back.root)).toEqual(placesOf(root))
      expect(placesOf(root)).toEqual(Array.from({ length: table.count }, (_, i) => i))
      expect(back.table.count).toBe(table.count)
    }),
    { seed: 12, numRuns: 100 },
  )
})

test('a project without anything in it comes back', () => {
  const root = newFolder(ROOT, { viaIndex: false })
  expect(new PackedNodes(encodeNodes(root, 0).bytes).root.children).toEqual([])
})

test('a wide and a deep tree come back', () => {
  const wide = newFolder(ROOT, { viaIndex: false })
  for (let i = 0; i < 20_000; i++) {
    wide.children.push(newContent(bytes(`f${i}`), { kind: 'file', viaIndex: false }))
  }
  const back = new PackedNodes(encodeNodes(wide, 0).bytes).root
  expect(back.children.map((child) => child.name)).toEqual(wide.children.map((child) => child.name))

  const deep = newFolder(ROOT, { viaIndex: false })
  let at = deep
  for (let i = 0; i < 1000; i++) {
    const child = newFolder(bytes('d'), { viaIndex: false })
    at.children.push(child)
    at = child
  }
  expect(placesOf(new PackedNodes(encodeNodes(deep, 0).bytes).root).length).toBe(1001)
})

/** All that the cache has to keep. */
function factsOf(node: Node, isKept: (node: Node) => boolean): unknown {
  const { kind, name: text, size, mtimeNs, ctimeNs, ino, settled } = node
  const common = { kind, text, size, mtimeNs, ctimeNs, ino, settled, kept: isKept(node) }
  if (node.kind === 'skipped') return { ...common, reason: node.reason, isFolder: node.isFolder }
  const captured = { ...common, mode: node.mode, id: node.id, viaIndex: node.viaIndex }
  if (node.kind !== 'folder') return captured
  const { rulesKey, ignoreStamp, ignoreKey, hasRuleFiles } = node
  const children = node.children.map((child) => factsOf(child, isKept))
  return { ...captured, rulesKey, ignoreStamp, ignoreKey, hasRuleFiles, children }
}

/** A folder before what it holds. */
function placesOf(node: Node): number[] {
  return [node.place, ...(node.kind === 'folder' ? node.children.flatMap(placesOf) : [])]
}

function bytes(text: string): BytePath {
  return bytePathOf(Buffer.from(text, 'latin1'))
}
