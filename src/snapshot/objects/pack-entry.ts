// Encodes one object as a pack entry.
import type { ObjectType } from './object-id.js'

const TYPE_NUMBER: Readonly<Record<ObjectType, number>> = { commit: 1, tree: 2, blob: 3 }

export { deflate as compressed } from './deflate.js'

export type PackEntry = { readonly bytes: Uint8Array; readonly crc: number }

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
