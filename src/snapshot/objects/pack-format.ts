// Git's format of packs, as far as we write them: the header, the entries, and the index (version 2), which PackIndexes searches.
import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { ObjectId } from '../../model/index.js'
import { deflate } from './deflate.js'
import type { ObjectType } from './object-id.js'

const TYPE_NUMBER: Readonly<Record<ObjectType, number>> = { commit: 1, tree: 2, blob: 3 }

/** The longest header of an entry. */
export const PACK_HEAD_BYTES = 10

export type PackEntry = { readonly bytes: Uint8Array; readonly crc: number }

export function packHeader(count: number): Buffer {
  const header = Buffer.from('PACK\0\0\0\x02\0\0\0\0', 'latin1')
  header.writeUInt32BE(count, 8)
  return header
}

export function encodePackEntry(type: ObjectType, content: Uint8Array): PackEntry {
  return packEntryOf(type, { size: content.length, zlib: deflate(content) })
}

/** `zlib` is the compressed content, and `size` its size. */
export function packEntryOf(
  type: ObjectType,
  { size, zlib }: { readonly size: number; readonly zlib: Uint8Array },
): PackEntry {
  const bytes = Buffer.allocUnsafe(PACK_HEAD_BYTES + zlib.length)
  const start = putPackHead(bytes, 0, { type, size })
  bytes.set(zlib, start)
  const entry = bytes.subarray(0, start + zlib.length)
  return { bytes: entry, crc: crc32(entry) }
}

/** Writes the header of an entry; returns the offset where the compressed content starts. */
function putPackHead(
  to: Uint8Array,
  at: number,
  { type, size }: { readonly type: ObjectType; readonly size: number },
): number {
  let end = at
  let byte = (TYPE_NUMBER[type] << 4) | (size & 15)
  for (let left = Math.floor(size / 16); left > 0; left = Math.floor(left / 128)) {
    to[end++] = byte | 0x80
    byte = left & 0x7f
  }
  to[end++] = byte
  return end
}

/** The header at the start of an entry; undefined for a delta, and if it is malformed. */
export function readPackHead(
  bytes: Uint8Array,
): { readonly type: ObjectType; readonly size: number; readonly headBytes: number } | undefined {
  const first = bytes[0] ?? 0
  const type = TYPES.find((name) => TYPE_NUMBER[name] === ((first >> 4) & 7))
  const headBytes = bytes.subarray(0, PACK_HEAD_BYTES).findIndex((byte) => byte < 128) + 1
  if (type === undefined || headBytes === 0) return undefined
  let size = first & 15
  let unit = 16
  for (const byte of bytes.subarray(1, headBytes)) {
    size += (byte & 127) * unit
    unit *= 128
  }
  return { type, size, headBytes }
}

const TYPES = ['commit', 'tree', 'blob'] as const

export type IndexedEntry = { readonly id: ObjectId; readonly crc: number; readonly offset: number }

export const HEADER_BYTES = 8
export const FANOUT_BYTES = 256 * 4
/** This bit of an offset refers to the table of 64-bit offsets. */
export const LARGE = 0x80000000

export function encodePackIndex(entries: readonly IndexedEntry[], packChecksum: Buffer): Buffer {
  const sorted = entries.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  const count = sorted.length
  const largeCount = sorted.filter(({ offset }) => offset >= LARGE).length
  const bytes = Buffer.alloc(HEADER_BYTES + FANOUT_BYTES + count * 28 + largeCount * 8 + 40)
  bytes.write('\xfftOc\0\0\0\x02', 0, 'latin1')
  const ids = HEADER_BYTES + FANOUT_BYTES
  const crcs = ids + count * 20
  const offsets = crcs + count * 4
  const larges = offsets + count * 4
  const fanout = new Uint32Array(256)
  let nextLarge = 0
  for (const [i, { id, crc, offset }] of sorted.entries()) {
    bytes.hexWrite(id, ids + i * 20)
    const first = Number.parseInt(id.slice(0, 2), 16)
    fanout[first] = (fanout[first] ?? 0) + 1
    bytes.writeUInt32BE(crc, crcs + i * 4)
    bytes.writeUInt32BE(offset < LARGE ? offset : LARGE + nextLarge, offsets + i * 4)
    if (offset < LARGE) continue
    bytes.writeBigUInt64BE(BigInt(offset), larges + nextLarge * 8)
    nextLarge += 1
  }
  let known = 0
  for (const [first, more] of fanout.entries()) {
    known += more
    bytes.writeUInt32BE(known, HEADER_BYTES + first * 4)
  }
  const trailer = larges + largeCount * 8
  packChecksum.copy(bytes, trailer)
  createHash('sha1')
    .update(bytes.subarray(0, trailer + 20))
    .digest()
    .copy(bytes, trailer + 20)
  return bytes
}
