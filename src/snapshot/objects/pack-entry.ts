// Encodes one object as a pack entry.
import { deflate } from './deflate.js'
import type { ObjectType } from './object-id.js'

const STORED_BYTES = 256
/** The start of a zlib stream with a single stored block. */
const STORED_HEAD = [0x78, 0x01, 0x01]
const ADLER_MODULUS = 65521

const TYPE_NUMBER: Readonly<Record<ObjectType, number>> = { commit: 1, tree: 2, blob: 3 }

export type PackEntry = { readonly bytes: Uint8Array; readonly crc: number }

/** The maximum length of an entry's header. */
export const PACK_HEAD_BYTES = 10

/** Writes the header of an entry; returns the offset where the compressed content starts. */
export function putPackHead(
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

/** A zlib stream; valid until the next call. */
export function compressed(content: Uint8Array): Uint8Array {
  return content.length < STORED_BYTES ? storedZlib(content) : deflate(content)
}

/**
 * A zlib stream with the bytes uncompressed. Small objects are mostly ids, which do not shrink, and setting up a compressor
 * costs far more than the few bytes it would save.
 */
function storedZlib(content: Uint8Array): Uint8Array {
  const size = content.length
  // The length and its one's complement.
  stored[3] = size
  stored[4] = 0
  stored[5] = ~size
  stored[6] = 0xff
  stored.set(content, 7)
  putAdler32(content, size + 7)
  return stored.subarray(0, size + 11)
}

const stored = Uint8Array.from({ length: STORED_BYTES + 11 }, (_, i) => STORED_HEAD[i] ?? 0)

/** No overflow: the content is shorter than STORED_BYTES. */
function putAdler32(content: Uint8Array, at: number): void {
  let a = 1
  let b = 0
  for (let i = 0; i < content.length; i++) {
    a += content[i] ?? 0
    b += a
  }
  a %= ADLER_MODULUS
  b %= ADLER_MODULUS
  stored[at] = b >>> 8
  stored[at + 1] = b
  stored[at + 2] = a >>> 8
  stored[at + 3] = a
}
