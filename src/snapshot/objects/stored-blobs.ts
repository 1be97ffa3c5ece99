// Reads blobs without git, for the few contents that a save compares with their new versions. Returns undefined for blobs that
// cannot be read this way; git then reads them or reports the error.
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { isError, type ObjectId } from '../../model/index.js'
import { readIfThere } from '../../system/index.js'
import { inflate } from './inflate.js'
import { loosePath } from './loose.js'
import { objectHeader } from './object-id.js'
import type { Holder, PackIndexes } from './pack-indexes.js'
import { readPackedBlob } from './packed-blob.js'

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
    const content = inflate(bytes, header.length + size)?.content
    return content?.latin1Slice(0, header.length) === header
      ? content.subarray(header.length)
      : undefined
  }

  #readPacked(id: ObjectId, size: number): Buffer | undefined {
    const holder = this.#indexes.holderOf(id)
    const offset = holder?.offsetOf(id)
    if (holder === undefined || offset === undefined) return undefined
    return readPackedBlob(this.#packOf(holder), { id, offset, size })
  }

  #packOf(holder: Holder): number {
    const { losses } = this.#indexes
    if (losses !== this.#losses) this.close()
    this.#losses = losses
    const known = this.#packs.get(holder.name)
    if (known !== undefined) return known
    for (const [name, fd] of this.#packs) {
      if (this.#packs.size < MAX_OPEN_PACKS) break
      closeSync(fd)
      this.#packs.delete(name)
    }
    const path = join(this.#objectsFolder, 'pack', `${holder.name}.pack`)
    const fd = openSync(path, 'r')
    this.#packs.set(holder.name, fd)
    return fd
  }
}
