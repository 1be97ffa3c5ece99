// One object as it stands in a pack.
import { crc32 } from 'node:zlib'
import { Deflater } from './deflater.js'
import type { ObjectType } from './object-id.js'

// Level 6 takes twice the time for packs that are 4 % smaller: see `disk-100-saves` in bench/.
const PACK_LEVEL = 1
const STORED_BYTES = 256
const ADLER_MODULUS = 65521

const TYPE_NUMBER: Readonly<Record<ObjectType, number>> = { commit: 1, tree: 2, blob: 3 }

let shared: Deflater | undefined
function deflater(): Deflater {
  shared ??= new Deflater(PACK_LEVEL)
  return shared
}

export type PackEntry = { readonly bytes: Buffer; readonly crc: number }

export function packEntry(type: ObjectType, content: Uint8Array): PackEntry {
  const bytes = Buffer.concat(packEntryParts(type, content))
  return { bytes, crc: crc32(bytes) }
}

/** Its head and its body; valid until the next call. */
export function packEntryParts(type: ObjectType, content: Uint8Array): [Uint8Array, Uint8Array] {
  const header: number[] = []
  let size = content.length
  let byte = (TYPE_NUMBER[type] << 4) | (size & 15)
  for (size = Math.floor(size / 16); size > 0; size = Math.floor(size / 128)) {
    header.push(byte | 0x80)
    byte = size & 0x7f
  }
  header.push(byte)
  return [Uint8Array.from(header), compressed(content)]
}

/** As a zlib stream; valid until the next call. */
export function compressed(content: Uint8Array): Uint8Array {
  return content.length < STORED_BYTES ? storedZlib(content) : deflater().deflate(content)
}

/**
 * A zlib stream with the bytes as they are. Small objects are mostly ids, which do not shrink, and setting
 * up a compressor costs many times more than the few bytes it would save.
 */
function storedZlib(content: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(content.length + 11)
  bytes.set([0x78, 0x01, 0x01])
  bytes.writeUInt16LE(content.length, 3)
  bytes.writeUInt16LE(content.length ^ 0xffff, 5)
  bytes.set(content, 7)
  bytes.writeUInt32BE(adler32(content), content.length + 7)
  return bytes
}

/** No sum overflows: the content has less than STORED_BYTES. */
function adler32(content: Uint8Array): number {
  let [a, b] = [1, 0]
  for (const byte of content) {
    a += byte
    b += a
  }
  return (((b % ADLER_MODULUS) << 16) | (a % ADLER_MODULUS)) >>> 0
}
