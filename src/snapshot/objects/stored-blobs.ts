// Reads blobs without git, for the few contents that a save compares with their new versions. Returns undefined for blobs that
// cannot be read this way; git then reads them or reports the error.
import { closeSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { isError, type ObjectId } from '../../model/index.js'
import { readIfThere } from '../../system/index.js'
import { inflate } from './inflate.js'
import { loosePath } from './loose.js'
import { objectHeader, objectIdOf } from './object-id.js'
import type { PackIndexes } from './pack-indexes.js'

/** Each keeps a file open. Blobs that change together are mostly in the same pack. */
const MAX_OPEN_PACKS = 4

export class StoredBlobs {
  readonly #objectsFolder: string
  readonly #indexes: PackIndexes
  /** Descriptors, by name. */
  readonly #packs = new Map<string, number>()
  #losses = 0

  constructor(objectsFolder: string, indexes: PackIndexes) {
    this.#objectsFolder = objectsFolder
    this.#indexes = indexes
  }

  /** Valid until the next call. */
  read(id: ObjectId, size: number): Buffer | undefined {
    try {
      return this.#readLoose(id, size) ?? this.#readPacked(id, size)
    } catch (error) {
      // The pack may have been removed, or the disk fails.
      if (isError(error) && 'syscall' in error) return undefined
      throw error
    }
  }

  close(): void {
    for (const fd of this.#packs.values()) closeSync(fd)
    this.#packs.clear()
  }

  #readLoose(id: ObjectId, size: number): Buffer | undefined {
    const bytes = readIfThere(loosePath(this.#objectsFolder, id))
    if (bytes === undefined) return undefined
    const header = objectHeader('blob', size)
    const content = inflate(bytes, header.length + size)
    return content?.latin1Slice(0, header.length) === header
      ? content.subarray(header.length)
      : undefined
  }

  #readPacked(id: ObjectId, size: number): Buffer | undefined {
    const found = this.#indexes.locate(id)
    if (found === undefined) return undefined
    return readPackedBlob(this.#openPack(found.pack), { id, offset: found.offset, size })
  }

  #openPack(pack: string): number {
    const { losses } = this.#indexes
    if (losses !== this.#losses) this.close()
    this.#losses = losses
    const known = this.#packs.get(pack)
    if (known !== undefined) return known
    for (const [name, fd] of this.#packs) {
      if (this.#packs.size < MAX_OPEN_PACKS) break
      closeSync(fd)
      this.#packs.delete(name)
    }
    const path = join(this.#objectsFolder, 'pack', `${pack}.pack`)
    const fd = openSync(path, 'r')
    this.#packs.set(pack, fd)
    return fd
  }
}

const BLOB = 3
/** Type and size of an entry. */
const MAX_HEAD_BYTES = 10

/** Undefined if the entry is not a whole blob with this id and size. */
function readPackedBlob(
  fd: number,
  { id, offset, size }: { readonly id: ObjectId; readonly offset: number; readonly size: number },
): Buffer | undefined {
  // Incompressible content grows by a few bytes per block.
  const bytes = Buffer.allocUnsafe(MAX_HEAD_BYTES + size + (size >>> 8) + 128)
  const read = readSync(fd, bytes, 0, bytes.length, offset)
  const headBytes = bytes.subarray(0, MAX_HEAD_BYTES).findIndex((byte) => byte < 128) + 1
  if (headBytes === 0 || (((bytes[0] ?? 0) >> 4) & 7) !== BLOB) return undefined
  const content = inflate(bytes.subarray(headBytes, read), size)
  return content !== undefined && objectIdOf('blob', content) === id ? content : undefined
}
