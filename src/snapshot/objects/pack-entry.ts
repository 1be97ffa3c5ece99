// One object as it stands in a pack.
import { crc32, deflateSync } from 'node:zlib'
import type { ObjectType } from './object-id.js'

// Measured in bench/: level 1 is twice as fast as 6, but `git gc` copies packed data as it is, so a pack
// written at level 1 stays a fifth larger than git's own for good.
const PACK_LEVEL = 3

const TYPE_NUMBER: Readonly<Record<ObjectType, number>> = { commit: 1, tree: 2, blob: 3 }

export type PackEntry = { readonly bytes: Buffer; readonly crc: number }

export function packEntry(type: ObjectType, content: Uint8Array): PackEntry {
  const header: number[] = []
  let size = content.length
  let byte = (TYPE_NUMBER[type] << 4) | (size & 15)
  for (size = Math.floor(size / 16); size > 0; size = Math.floor(size / 128)) {
    header.push(byte | 0x80)
    byte = size & 0x7f
  }
  header.push(byte)
  const bytes = Buffer.concat([Buffer.from(header), deflateSync(content, { level: PACK_LEVEL })])
  return { bytes, crc: crc32(bytes) }
}
