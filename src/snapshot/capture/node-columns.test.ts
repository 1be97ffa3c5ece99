import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type BytePath, bytePathOf, ROOT } from '../../model/byte-path.js'
import { SKIP_REASONS, type SkipReason } from '../../model/entry.js'
import { parseObjectId } from '../../model/ids.js'
import { type FolderNode, type Node, newContent, newFolder, newSkipped } from './node.js'
import { decodeNodes, encodeNodes } from './node-columns.js'

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
  kept: fc.boolean(),
})
const id = fc.option(
  fc.nat().map((seed) => parseObjectId(createHash('sha1').update(`${seed}`).digest('hex'))),
  { nil: undefined },
)
const mode = fc.nat(0o7777)
const content: fc.Arbitrary<Node> = fc
  .record({ name, kind: fc.constantFrom('file' as const, 'link' as const), stamp, mode, id })
  .chain((facts) =>
    fc.boolean().map((viaIndex) => ({
      ...newContent(facts.name, { kind: facts.kind, viaIndex }),
      ...facts.stamp,
      mode: facts.mode,
      id: facts.id,
    })),
  )
const skipped: fc.Arbitrary<Node> = fc
  .record({ name, reason: fc.constantFrom(...REASONS), isFolder: fc.boolean(), stamp })
  .map((facts) => ({ ...newSkipped(facts.name, facts), ...facts.stamp }))
const key = fc.constantFrom('', 'a'.repeat(20), 'b'.repeat(20), '1 2 3 4|absent')

const { folder } = fc.letrec<{ folder: FolderNode; node: Node }>((tie) => ({
  folder: fc
    .record({
      facts: fc.record({
        name,
        stamp,
        mode,
        id,
        viaIndex: fc.boolean(),
        rulesKey: key,
        ignoreStamp: key,
        ignoreKey: key,
      }),
      children: fc.array(tie('node'), { maxLength: 6 }),
    })
    .map(({ facts, children }): FolderNode => {
      const { stamp: stamped, ...rest } = facts
      return { ...newFolder(facts.name, rest), ...stamped, ...rest, children }
    }),
  node: fc.oneof({ depthSize: 'small' }, content, skipped, tie('folder')),
}))

test('every fact of every node comes back from the columns', () => {
  fc.assert(
    fc.property(folder, (root) => {
      expect(decodeNodes(encodeNodes(root))).toEqual(root)
    }),
    { seed: 11, numRuns: 300 },
  )
})

test('a project without anything in it comes back', () => {
  const root = newFolder(ROOT, { viaIndex: false })
  expect(decodeNodes(encodeNodes(root))).toEqual(root)
})

test('a wide and a deep tree come back', () => {
  const wide = newFolder(ROOT, { viaIndex: false })
  for (let i = 0; i < 20_000; i++) {
    wide.children.push(newContent(bytes(`f${i}`), { kind: 'file', viaIndex: false }))
  }
  expect(decodeNodes(encodeNodes(wide)).children.length).toBe(20_000)

  const deep = newFolder(ROOT, { viaIndex: false })
  let at = deep
  for (let i = 0; i < 1000; i++) {
    const child = newFolder(bytes('d'), { viaIndex: false })
    at.children.push(child)
    at = child
  }
  expect(decodeNodes(encodeNodes(deep))).toEqual(deep)
})

function bytes(text: string): BytePath {
  return bytePathOf(Buffer.from(text, 'latin1'))
}
