// Segments and packs without a driver.
import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { PACK_CHUNK_BYTES } from '../../../src/model/index.js'
import {
  Codec,
  decodePack,
  decodeSegment,
  encodeChunks,
  encodePack,
  encodeSegment,
  RemoteKey,
  TextBudget,
} from '../../../src/remote/codec/index.js'
import { content, digest, session, thread } from '../../support/remote/writer.js'

const log = session('a')
const codecs = [null, new RemoteKey(randomBytes(32))].map(
  (key) => new Codec({ remoteId: 'r', key, label: 'host/db' }),
)

test('a reader of a log unpacks no more than its budget', () => {
  for (const codec of codecs) {
    const encode = (n: number, text: string) =>
      encodeSegment(codec, { log, n, prev: 'ab'.repeat(32), content: content(text) })
    const { length } = JSON.stringify(content('one'))
    const budget = new TextBudget(3 * length - 1)
    decodeSegment(codec, log, encode(2, 'one'), budget)
    decodeSegment(codec, log, encode(3, 'two'), budget)
    expect(() => decodeSegment(codec, log, encode(4, 'six'), budget)).toThrow(
      expect.objectContaining({
        code: 'STORE_DAMAGED',
        message: expect.stringContaining('the log up to segment session a 4') as unknown,
      }),
    )
  }
})

test('a segment is decoded as it was encoded', () => {
  for (const codec of codecs)
    for (const segment of [
      { log, n: 1, prev: null, content: content('first') },
      { log, n: 2, prev: 'ab'.repeat(32), content: content('π "quoted" \u2028') },
      { log, n: 9, prev: null, content: content('base', true) },
    ]) {
      const encoded = encodeSegment(codec, segment)
      expect(encoded.hash).toMatch(/^[0-9a-f]{64}$/)
      const { n, prev } = segment
      expect(decodeSegment(codec, log, encoded, new TextBudget())).toEqual({
        n,
        prev,
        hash: encoded.hash,
        content: segment.content,
      })
    }
})

test('a base has no predecessor, and every other segment but the first one has', () => {
  for (const codec of codecs) {
    const bug = /Bug in savestate/
    const encode = (n: number, prev: string | null, isBase: boolean) => () =>
      encodeSegment(codec, { log, n, prev, content: content('x', isBase) })
    expect(encode(2, null, false)).toThrow(bug)
    expect(encode(2, 'ab'.repeat(32), true)).toThrow(bug)
    expect(encode(1, 'ab'.repeat(32), false)).toThrow(bug)
  }
})

test('the hash depends on the body and on the segment before', () => {
  const [plain] = codecs
  if (plain === undefined) throw new Error('no codec')
  const hashes = [
    encodeSegment(plain, { log, n: 2, prev: 'ab'.repeat(32), content: content('x') }).hash,
    encodeSegment(plain, { log, n: 2, prev: 'cd'.repeat(32), content: content('x') }).hash,
    encodeSegment(plain, { log, n: 2, prev: 'cd'.repeat(32), content: content('y') }).hash,
  ]
  expect(new Set(hashes).size).toBe(3)
})

test('a sealed segment belongs to its log, its kind, its number and its predecessor', () => {
  const [, sealed] = codecs
  if (sealed === undefined) throw new Error('no codec')
  const encoded = encodeSegment(sealed, { log, n: 1, prev: null, content: content('x') })
  const damaged = expect.objectContaining({ code: 'STORE_DAMAGED' }) as unknown
  expect(() => decodeSegment(sealed, session('b'), encoded, new TextBudget())).toThrow(damaged)
  expect(() => decodeSegment(sealed, thread('a'), encoded, new TextBudget())).toThrow(damaged)
  expect(() => decodeSegment(sealed, log, { ...encoded, n: 2 }, new TextBudget())).toThrow(damaged)
})

test('content of a newer version asks for an update', () => {
  for (const codec of codecs) {
    const newer = { ...content('x'), version: 2 } as unknown as ReturnType<typeof content>
    const encoded = encodeSegment(codec, { log, n: 1, prev: null, content: newer })
    expect(() => decodeSegment(codec, log, encoded, new TextBudget())).toThrow(
      expect.objectContaining({ code: 'STORE_NEWER' }),
    )
  }
})

test('a change that is too large to be shared is refused before it is sent', () => {
  const [plain] = codecs
  const large = content('x'.repeat(129 << 20))
  expect(() => {
    if (plain !== undefined) encodeSegment(plain, { log, n: 1, prev: null, content: large })
  }).toThrow(expect.objectContaining({ code: 'BAD_INPUT' }))
})

const pack = { id: 'p', parent: 'q', tree: 'a'.repeat(40), project: null }

async function decode(codec: Codec, chunks: readonly Uint8Array[]) {
  async function* stored() {
    yield* chunks
  }
  const tree = codec.nameOf(pack.tree, 'tree')
  const decoded = await decodePack(codec, { id: 'p', parent: 'q', tree, chunks: stored() })
  const parts: Uint8Array[] = []
  for await (const part of decoded.chunks) parts.push(part)
  expect({ ...decoded, chunks: null }).toEqual({
    id: 'p',
    parent: 'q',
    tree: pack.tree,
    chunks: null,
  })
  return Buffer.concat(parts)
}

test('a pack of any length in pieces of any length is decoded as it was encoded', async () => {
  const length = fc.oneof(
    fc.nat(100),
    fc.integer({ min: PACK_CHUNK_BYTES - 250, max: PACK_CHUNK_BYTES + 50 }),
    fc.integer({ min: 2 * PACK_CHUNK_BYTES - 250, max: 2 * PACK_CHUNK_BYTES + 50 }),
  )
  const bytes = randomBytes(2 * PACK_CHUNK_BYTES + 50)
  for (const codec of codecs)
    await fc.assert(
      fc.asyncProperty(length, fc.integer({ min: 5000, max: 3 << 20 }), async (total, piece) => {
        const all = bytes.subarray(0, total)
        function* pieces() {
          // One buffer for all pieces, as a stream may do.
          const buffer = Buffer.alloc(piece)
          for (let at = 0; at < total; at += piece)
            yield buffer.subarray(0, all.copy(buffer, 0, at, at + piece))
        }
        const chunks: Uint8Array[] = []
        for await (const chunk of encodeChunks(codec, pack, pieces())) chunks.push(chunk)
        expect(chunks.every((chunk) => chunk.length <= PACK_CHUNK_BYTES)).toBe(true)
        expect(digest(await decode(codec, chunks))).toEqual(digest(all))
      }),
      { numRuns: 12 },
    )
})

test('a pack that comes with a commit is one chunk of the same form', async () => {
  for (const codec of codecs) {
    const body = encodePack(codec, pack, Buffer.from('content'))
    expect((await decode(codec, [body])).toString()).toBe('content')
  }
})

test('a pack without a header, or with the header of another one, is damaged', async () => {
  for (const codec of codecs) {
    const bodies = [
      encodePack(codec, { ...pack, parent: null }, Buffer.from('content')),
      encodePack(codec, { ...pack, tree: 'b'.repeat(40) }, Buffer.from('content')),
      codec.seal(Buffer.from('no header'), ['pack', 'p', 0, true]),
      codec.seal(Buffer.from('\nempty header'), ['pack', 'p', 0, true]),
    ]
    for (const body of bodies)
      await expect(decode(codec, [body])).rejects.toMatchObject({ code: 'STORE_DAMAGED' })
    await expect(decode(codec, [])).rejects.toMatchObject({ code: 'STORE_DAMAGED' })
  }
})
