// Reads a blob from a pack without starting git. Whole blobs only: deltas are left to git.
import { readSync } from 'node:fs'
import { inflateSync } from 'node:zlib'
import { isError, type ObjectId } from '../../model/index.js'
import { objectIdOf } from './object-id.js'

const BLOB = 3
/** Type and size of an entry. */
const MAX_HEAD_BYTES = 10

/** Undefined if the entry is not a whole blob with this id and size. */
export function readPackedBlob(
  fd: number,
  { id, offset, size }: { readonly id: ObjectId; readonly offset: number; readonly size: number },
): Buffer | undefined {
  // Incompressible content grows by a few bytes per block.
  const bytes = Buffer.allocUnsafe(MAX_HEAD_BYTES + size + (size >>> 8) + 128)
  const read = readSync(fd, bytes, 0, bytes.length, offset)
  const headBytes = bytes.subarray(0, MAX_HEAD_BYTES).findIndex((byte) => byte < 128) + 1
  if (headBytes === 0 || (((bytes[0] ?? 0) >> 4) & 7) !== BLOB) return undefined
  try {
    const options = { maxOutputLength: Math.max(size, 1) }
    const content = inflateSync(bytes.subarray(headBytes, read), options)
    return content.length === size && objectIdOf('blob', content) === id ? content : undefined
  } catch (error) {
    // zlib throws for damaged streams and for content that is too long.
    if (isError(error)) return undefined
    throw error
  }
}
