// Packs from a hostile remote. Each is rejected, and nothing of it becomes visible.
import { deflateSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ObjectId } from '../../../src/model/index.js'
import { PACK_START } from '../../../src/snapshot/bundles/envelope.js'
import { EMPTY_TREE } from '../../../src/snapshot/objects/object-id.js'
import {
  blobPart,
  encodePart,
  Host,
  packOfParts,
  type Part,
  partId,
  type RawEntry,
  treePart,
} from './bundle-helpers.js'

const MODES = 'savestate-modes 1\nfile 644\nexecutable 755\nfolder 755\n'
const blob = blobPart('content')
const target = blobPart('../outside')
const missing = 'd'.repeat(40)

type Attack = { readonly tree: ObjectId; readonly packs: readonly (Buffer | readonly Buffer[])[] }

function snapshotOf(
  entries: readonly RawEntry[],
  { modes = blobPart(MODES), parts = [] }: { modes?: Part; parts?: readonly Part[] } = {},
): { readonly tree: ObjectId; readonly parts: readonly Part[] } {
  const files = treePart(entries)
  const root = treePart([
    ['40000', 'files', partId(files)],
    ['100644', 'modes', partId(modes)],
  ])
  return { tree: partId(root), parts: [root, files, modes, blob, target, ...parts] }
}

function withEntries(entries: readonly RawEntry[], parts: readonly Part[] = []): Attack {
  const { tree, parts: all } = snapshotOf(entries, { parts })
  return { tree, packs: [packOfParts(all)] }
}

function withModes(text: string): Attack {
  const { tree, parts } = snapshotOf([file('a')], { modes: blobPart(Buffer.from(text, 'latin1')) })
  return { tree, packs: [packOfParts(parts)] }
}

function withPart(part: Part): Attack {
  const { tree, parts } = snapshotOf([file('a')])
  return { tree, packs: [packOfParts([...parts, part])] }
}

function withBytes(change: (pack: Buffer) => Buffer): Attack {
  const { tree, parts } = snapshotOf([file('a')])
  return { tree, packs: [change(packOfParts(parts))] }
}

const file = (name: string, part = blob): RawEntry => ['100644', name, partId(part)]
const inner = treePart([file('a')])
const folder = (name: string): RawEntry => ['40000', name, partId(inner)]
const inFolder = (entry: RawEntry): Attack => withEntries([entry], [inner])

/** 2^n files in n trees. */
function bomb(levels: number): Attack {
  let part = treePart([file('a'), file('b')])
  const parts = [part]
  for (let i = 0; i < levels; i += 1) {
    const id = partId(part)
    part = treePart([
      ['40000', 'a', id],
      ['40000', 'b', id],
    ])
    parts.push(part)
  }
  return withEntries([['40000', 'a', partId(part)]], parts)
}

function deep(levels: number): Attack {
  let part = treePart([file('a')])
  const parts = [part]
  for (let i = 0; i < levels; i += 1) {
    part = treePart([['40000', 'x'.repeat(200), partId(part)]])
    parts.push(part)
  }
  return withEntries([['40000', 'a', partId(part)]], parts)
}

const ATTACKS: Readonly<Record<string, readonly [attack: () => Attack, message: RegExp]>> = {
  // Names that lead outside, or into a repository.
  '..': [() => inFolder(folder('..')), /an entry named \.\./],
  '.': [() => inFolder(folder('.')), /an entry named \./],
  '.git': [() => inFolder(folder('.git')), /an entry named \.git/],
  '.GIT': [() => inFolder(folder('.GIT')), /an entry named \.GIT/],
  'git~1': [() => inFolder(folder('git~1')), /an entry named git~1/],
  'a name with a slash': [() => withEntries([file('a/b')]), /an entry named a\/b/],
  'no name': [() => withEntries([file('')]), /malformed|without a name/],
  'a name twice': [() => withEntries([file('a'), file('a', target)]), /twice/],
  'a file and a folder of one name': [
    () => withEntries([file('a'), folder('a')], [inner]),
    /twice/,
  ],
  'a temporary name': [
    () => withEntries([file('.savestate-tmp-bcdfghjklmnpqrstvw-1')]),
    /which no checkpoint can contain/,
  ],
  'a path that is too long': [() => deep(21), /no file system can store/],

  // Trees that are not in git's form: `git fsck --strict` would complain.
  'a submodule': [() => withEntries([['160000', 'a', partId(blob)]]), /which no checkpoint/],
  'a mode with a zero': [() => inFolder(['040000', 'a', partId(inner)]), /a tree is malformed/],
  'a mode of old programs': [() => withEntries([['100664', 'a', partId(blob)]]), /malformed/],
  'an unknown mode': [() => withEntries([['140000', 'a', partId(blob)]]), /with the mode/],
  'unsorted entries': [() => withEntries([file('b'), file('a')]), /a tree is malformed/],
  'a truncated tree': [
    () => withPart({ type: 'tree', content: inner.content.subarray(0, -1) }),
    /malformed/,
  ],
  'an unsafe tree that nothing refers to': [
    () => withPart(treePart([file('.git')])),
    /an entry named \.git/,
  ],

  // Types.
  'a blob as a folder': [() => withEntries([['40000', 'a', partId(blob)]]), /have the tree/],
  'a folder as a file': [() => withEntries([['100644', 'a', partId(inner)]], [inner]), /the blob/],
  'a folder of the store as a file': [() => withEntries([['100644', 'a', EMPTY_TREE]]), /the blob/],
  'a link to nothing': [
    () => withEntries([['120000', 'a', partId(blobPart(''))]], [blobPart('')]),
    /the link a has no valid target/,
  ],
  'a link with a NUL': [
    () => withEntries([['120000', 'a', partId(blobPart('a\0b'))]], [blobPart('a\0b')]),
    /the link a has no valid target/,
  ],
  'a commit': [
    () => withBytes((pack) => replaceAt(pack, PACK_START.length, 3)),
    /an object of an unknown form/,
  ],

  // Incomplete.
  'a missing file': [() => withEntries([['100644', 'a', missing]]), /have the blob d{40}/],
  'a missing folder': [() => withEntries([['40000', 'a', missing]]), /have the tree d{40}/],
  'a missing link target': [() => withEntries([['120000', 'a', missing]]), /have the blob d{40}/],
  'nothing at all': [() => ({ tree: missing as ObjectId, packs: [] }), /have the tree d{40}/],
  'another snapshot': [
    () => ({ ...withEntries([file('a')]), tree: partId(inner) }),
    /have the tree/,
  ],
  'a folder as snapshot': [
    () => ({ tree: partId(inner), packs: [packOfParts([inner, blob])] }),
    /is not the tree of a snapshot/,
  ],
  'a snapshot with more in it': [
    () => {
      const { parts } = snapshotOf([file('a')])
      const [, files = blob, modes = blob] = parts
      const root = treePart([
        ['40000', 'files', partId(files)],
        ['100644', 'modes', partId(modes)],
        ['100644', 'more', partId(blob)],
      ])
      return { tree: partId(root), packs: [packOfParts([root, ...parts])] }
    },
    /is not the tree of a snapshot/,
  ],

  // Permissions.
  'modes of another format': [() => withModes('savestate-modes 2\n'), /unknown format/],
  'modes that are no modes': [() => withModes('content'), /unknown format/],
  'a mode beyond the twelve bits': [() => withModes(`${MODES}10000 a\0`), /are malformed/],
  'a mode with a letter': [() => withModes(`${MODES}6x4 a\0`), /are malformed/],
  'an unfinished list': [() => withModes(`${MODES}600 a`), /are malformed/],
  'an unsorted list': [() => withModes(`${MODES}600 b\x00600 a\0`), /are malformed/],
  'the mode of a path outside': [() => withModes(`${MODES}600 ../a\0`), /which no checkpoint/],
  'the mode of a path in .git': [() => withModes(`${MODES}600 .git/a\0`), /which no checkpoint/],
  'assumed modes with a list': [
    () => withModes(`${MODES.replace('1\n', '1 assumed\n')}600 a\0`),
    /are malformed/,
  ],

  // Damage and bombs.
  'a wrong id': [
    () => withPart({ ...blob, head: { id: missing as ObjectId } }),
    /the blob d{40} is damaged/,
  ],
  'content of another type': [
    () => withPart({ ...blob, head: { type: 'tree', id: partId(blob) } }),
    /is damaged/,
  ],
  'a false size': [() => withPart({ ...blob, head: { size: 6 } }), /is damaged/],
  'a stream that is not zlib': [
    () => withPart({ ...blob, zlib: Buffer.from('no zlib') }),
    /is damaged/,
  ],
  'bytes after the stream': [
    () => withPart({ ...blob, zlib: Buffer.concat([deflateSync(blob.content), blob.content]) }),
    /is damaged/,
  ],
  'a loose object with the head of another': [
    () => withPart({ ...blob, form: 'loose', zlib: deflateSync(Buffer.from('blob 8\0content')) }),
    /is damaged/,
  ],
  'a loose object without a head': [
    () => withPart({ ...blob, form: 'loose', zlib: deflateSync(Buffer.from('c')) }),
    /is damaged/,
  ],
  'a bomb': [
    () => withPart({ ...blob, zlib: deflateSync(Buffer.alloc(32 << 20)) }),
    /takes more bytes than its content|is damaged/,
  ],
  'a large bomb': [
    () =>
      withPart({ ...blob, zlib: deflateSync(Buffer.alloc(90 << 20)), head: { size: 17 << 20 } }),
    /is damaged/,
  ],
  'a damaged large blob': [
    () => withPart({ ...blobPart(Buffer.alloc(17 << 20)), head: { id: missing as ObjectId } }),
    /is damaged/,
  ],
  'a large blob that is not zlib': [
    () => withPart({ ...blob, zlib: Buffer.alloc(1 << 20, 7), head: { size: 17 << 20 } }),
    /is damaged/,
  ],
  'a truncated large blob': [
    () => withPart({ ...blob, zlib: deflateSync(Buffer.alloc(9)), head: { size: 17 << 20 } }),
    /is damaged/,
  ],
  'an enormous blob': [() => withPart({ ...blob, head: { size: 2 ** 47 } }), /is too large/],
  'an enormous folder': [() => withPart({ ...inner, head: { size: 64 << 20 } }), /is too large/],
  'a false length': [() => withPart({ ...blob, head: { length: 2 ** 47 } }), /more bytes than/],
  'more files than a project may have': [() => bomb(40), /more than the 5000 files/],

  // The envelope.
  'a truncated pack': [() => withBytes((pack) => pack.subarray(0, -10)), /it is truncated/],
  'a pack without its end': [() => withBytes((pack) => pack.subarray(0, -1)), /it is truncated/],
  'an empty pack': [() => withBytes(() => Buffer.alloc(0)), /it is truncated/],
  'bytes after the end': [
    () => withBytes((pack) => Buffer.concat([pack, Buffer.from('x')])),
    /bytes after its end/,
  ],
  'another format': [() => withBytes((pack) => replaceAt(pack, 0, 0)), /an unknown format/],
  'an object that continues in the next pack': [
    () => {
      const { tree, parts } = snapshotOf([file('a')])
      const bytes = packOfParts(parts)
      return { tree, packs: [bytes.subarray(0, 100), bytes.subarray(100)] }
    },
    /it is truncated/,
  ],
}

function replaceAt(bytes: Buffer, at: number, value: number): Buffer {
  const copy = Buffer.from(bytes)
  copy[at] = value
  return copy
}

let host: Host
let before: readonly string[]
beforeAll(async () => {
  host = await Host.start()
  await host.save()
  before = host.stored()
})
afterAll(() => host[Symbol.asyncDispose]())

test.each(Object.entries(ATTACKS))('%s', async (_name, [attack, message]) => {
  const { tree, packs } = attack()
  const chunked = packs.map((pack) => ({ chunks: Buffer.isBuffer(pack) ? [pack] : pack }))
  const result = host.snapshots.importPacks(host.project, { tree, packs: chunked })
  await expect(result).rejects.toMatchObject({ code: 'BAD_INPUT', message })
  expect(host.stored()).toEqual(before)
})

// Otherwise a case above could fail for another reason than the one it is about.
test('a harmless pack made like these is accepted', async () => {
  await using receiver = await Host.start()
  const { tree, parts } = snapshotOf(
    [file('a'), folder('b'), ['120000', 'c', partId(target)], ['100755', 'd', partId(blob)]],
    { parts: [inner, { ...blob, form: 'loose' }], modes: blobPart(`${MODES}600 a\x001777 b/\0`) },
  )
  await receiver.receive(tree, [{ chunks: [packOfParts(parts)] }])
  expect(receiver.reachable(tree).size).toBe(6)
})

test('a pack may arrive byte by byte', async () => {
  await using receiver = await Host.start()
  const { tree, parts } = snapshotOf([file('a')])
  const chunks = [...packOfParts(parts)].map((byte) => Uint8Array.of(byte))
  await receiver.receive(tree, [{ chunks }])
  expect(receiver.reachable(tree).size).toBe(4)
})

test('a delta without its parent names what is missing', async () => {
  await using receiver = await Host.start()
  const { tree, parts } = snapshotOf([file('a')])
  const lacking = parts.filter((part) => part !== blob)
  const packs = [{ chunks: [packOfParts(lacking)] }]
  await expect(
    receiver.snapshots.importPacks(receiver.project, { tree, packs }),
  ).rejects.toMatchObject({
    code: 'BAD_INPUT',
    message: `Files of the remote were rejected: neither the packs nor the store have the blob ${partId(blob)}`,
  })
})

test('a source that fails leaves nothing behind', async () => {
  const { tree, parts } = snapshotOf([file('a')])
  async function* chunks() {
    yield Buffer.concat([PACK_START, ...parts.map(encodePart)])
    throw new Error('cut')
  }
  const packs = [{ chunks: chunks() }]
  await expect(host.snapshots.importPacks(host.project, { tree, packs })).rejects.toThrow('cut')
  expect(host.stored()).toEqual(before)
})
