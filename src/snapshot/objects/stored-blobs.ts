// Reads blobs without git, for the few contents that a save compares with their new versions. Returns undefined for blobs that
// cannot be read this way; git then reads them or reports the error.
import { closeSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { inflateSync } from 'node:zlib'
import { isError, type ObjectId } from '../../model/index.js'
import { readIfThere } from '../../system/index.js'
import { loosePath } from './loose.js'
import { objectHeader, objectIdOf } from './object-id.js'
import type { PackIndexes } from './pack-indexes.js'

type Blob = { readonly id: ObjectId; readonly size: number }

const BLOB = 3
/** Type and size of an entry. */
const MAX_HEAD_BYTES = 10

export function readStoredBlob(
  blob: Blob,
  { folder, packs }: { readonly folder: string; readonly packs: PackIndexes },
): Buffer | undefined {
  try {
    const loose = readIfThere(loosePath(folder, blob.id))
    if (loose !== undefined) return readLoose(loose, blob)
    const found = packs.locate(blob.id)
    if (found === undefined) return undefined
    const fd = openSync(join(folder, 'pack', `${found.pack}.pack`), 'r')
    try {
      return readPacked(fd, { ...blob, offset: found.offset })
    } finally {
      closeSync(fd)
    }
  } catch (error) {
    // The pack may have been removed, or the disk fails.
    if (isError(error) && 'syscall' in error) return undefined
    throw error
  }
}

function readLoose(bytes: Buffer, { size }: Blob): Buffer | undefined {
  const header = objectHeader('blob', size)
  const content = inflate(bytes, header.length + size)
  return content?.latin1Slice(0, header.length) === header
    ? content.subarray(header.length)
    : undefined
}

/** Undefined if the entry is not a whole blob with this id and size. */
function readPacked(
  fd: number,
  { id, size, offset }: Blob & { readonly offset: number },
): Buffer | undefined {
  // Incompressible content grows by a few bytes per block.
  const bytes = Buffer.allocUnsafe(MAX_HEAD_BYTES + size + (size >>> 8) + 128)
  const read = readSync(fd, bytes, 0, bytes.length, offset)
  const headBytes = bytes.subarray(0, MAX_HEAD_BYTES).findIndex((byte) => byte < 128) + 1
  if (headBytes === 0 || (((bytes[0] ?? 0) >> 4) & 7) !== BLOB) return undefined
  const content = inflate(bytes.subarray(headBytes, read), size)
  return content !== undefined && objectIdOf('blob', content) === id ? content : undefined
}

/** Undefined if the zlib stream at the start of `input` is truncated, damaged, or not exactly `size` bytes long. */
export function inflate(input: Uint8Array, size: number): Buffer | undefined {
  try {
    const content = inflateSync(input, { maxOutputLength: Math.max(size, 1) })
    return content.length === size ? content : undefined
  } catch (error) {
    // zlib throws for damaged streams and for content that is too long.
    if (isError(error)) return undefined
    throw error
  }
}
