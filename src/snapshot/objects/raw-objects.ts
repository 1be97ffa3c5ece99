// Where the store keeps the bytes of an object, for a copy that compresses nothing again.
import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { hasCode, type ObjectId } from '../../model/index.js'
import { loosePath } from './loose.js'
import { PACK_HEAD_BYTES, readPackHead } from './pack-format.js'
import type { PackIndexes } from './pack-indexes.js'

const PACK_TRAILER_BYTES = 20

export type RawObject = {
  /** The zlib stream has the content (`content`), or git's header and the content (`loose`). */
  readonly form: 'content' | 'loose'
  readonly path: string
  /** Where the zlib stream is in the file. */
  readonly start: number
  readonly length: number
  /** The size of the content, if it is known without decompressing. */
  readonly size: number | undefined
}

export function findRawObject(
  id: ObjectId,
  { folder, packs }: { readonly folder: string; readonly packs: PackIndexes },
): RawObject | undefined {
  const loose = loosePath(folder, id)
  const stats = statSync(loose, { throwIfNoEntry: false })
  if (stats !== undefined)
    return { form: 'loose', path: loose, start: 0, length: stats.size, size: undefined }
  const extent = packs.extentOf(id)
  if (extent === undefined) return undefined
  const path = join(folder, 'pack', `${extent.pack}.pack`)
  try {
    return readEntryAt(path, extent)
  } catch (error) {
    // A collection of another process has replaced the pack.
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}

function readEntryAt(
  path: string,
  { start, next }: { readonly start: number; readonly next: number | undefined },
): RawObject | undefined {
  const fd = openSync(path, 'r')
  try {
    const end = next ?? fstatSync(fd).size - PACK_TRAILER_BYTES
    const head = readPackHead(readAt(fd, { start, length: PACK_HEAD_BYTES }))
    if (head === undefined) return undefined
    const at = start + head.headBytes
    return { form: 'content', path, start: at, length: end - at, size: head.size }
  } finally {
    closeSync(fd)
  }
}

/** Fewer bytes if the file is shorter. */
export function readAt(
  fd: number,
  { start, length }: { readonly start: number; readonly length: number },
): Buffer {
  const bytes = Buffer.allocUnsafe(length)
  return bytes.subarray(0, readSync(fd, bytes, 0, length, start))
}
