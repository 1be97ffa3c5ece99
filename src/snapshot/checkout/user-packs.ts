// The packs of the user's own repository, as a source of contents that are compressed already. Nothing in them is
// believed: what is taken was expanded, and hashes to the id it was asked by (I9).
import { closeSync, constants, fstatSync, openSync, readdirSync } from 'node:fs'
import { fsPath, hasCode, type ObjectId } from '../../model/index.js'
import { type PackedBlob, PackFile } from '../care/pack-file.js'
import { parsePackIndex } from '../care/pack-index-file.js'
import { readRegularFile } from './regular-file.js'

/** About four million objects; each thread keeps the indexes in memory. */
const MAX_INDEX_BYTES = 128 << 20
/** A delta may be made on something larger than what it is of. */
const MAX_OBJECT_BYTES = 16 << 20

export class UserPacks {
  /** The one that had the last object comes first: it mostly has the next. */
  readonly #packs: PackFile[]

  private constructor(packs: PackFile[]) {
    this.#packs = packs
  }

  /** What cannot be read is left out. `objects`: the repository's folder of objects. */
  static open(objects: string): UserPacks {
    const packs: PackFile[] = []
    let left = MAX_INDEX_BYTES
    for (const name of unlessClosed(() => readdirSync(fsPath(`${objects}/pack`), 'latin1')) ?? []) {
      if (!name.endsWith('.idx')) continue
      const index = unlessClosed(() => readRegularFile(`${objects}/pack/${name}`, left))
      if (!(index instanceof Buffer)) continue
      left -= index.length
      const pack = openPack(`${objects}/pack/${name.slice(0, -'.idx'.length)}.pack`, index)
      if (pack !== undefined) packs.push(pack)
    }
    return new UserPacks(packs)
  }

  close(): void {
    for (const pack of this.#packs) pack.close()
  }

  /** Undefined if no pack has it, or not as it should be. */
  read(id: ObjectId, size: number): PackedBlob | undefined {
    for (const [i, pack] of this.#packs.entries()) {
      const blob = pack.readBlob(id, size)
      if (blob === undefined) continue
      if (i > 0) this.#packs.unshift(...this.#packs.splice(i, 1))
      return blob
    }
    return undefined
  }
}

function openPack(path: string, indexBytes: Buffer): PackFile | undefined {
  const index = parsePackIndex(indexBytes, { quick: true })
  if (index === undefined) return undefined
  // Without O_NONBLOCK, opening a pipe waits for somebody to write to it.
  const flags = constants.O_RDONLY | constants.O_NONBLOCK
  const fd = unlessClosed(() => openSync(fsPath(path), flags))
  if (fd === undefined) return undefined
  if (fstatSync(fd).isFile()) return new PackFile(fd, index, { maxBytes: MAX_OBJECT_BYTES })
  closeSync(fd)
  return undefined
}

/** A repository that we may not look into is of no use here, nor one that goes while we look. */
function unlessClosed<T>(look: () => T): T | undefined {
  try {
    return look()
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'ELOOP', 'ENXIO', 'EIO'))
      return undefined
    throw error
  }
}
