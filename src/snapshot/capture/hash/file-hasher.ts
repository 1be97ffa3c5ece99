// Reads, hashes and compresses the files of a batch. It is synchronous, because it runs on hash threads, and on the scan's
// thread after the scan.
import type { BigIntStats } from 'node:fs'
import type { ObjectId } from '../../../model/index.js'
import { linesOf } from '../../objects/count-lines.js'
import { LooseListing } from '../../objects/loose.js'
import { objectIdOf } from '../../objects/object-id.js'
import { encodePackEntry } from '../../objects/pack-format.js'
import { PackIndexes } from '../../objects/pack-indexes.js'
import { type SecretContent, secretIn } from '../scan/secret-content.js'
import { VerifiedFolder } from '../scan/verified-folder.js'
import { type ReadFault, readStable } from './read-file.js'

export type HashRequest = {
  readonly paths: readonly string[]
  /** Files of this size or larger are not read by a thread. */
  readonly largeBytes: number
}

export type FileStats = Pick<
  BigIntStats,
  'size' | 'mode' | 'mtimeNs' | 'ctimeNs' | 'ino' | 'uid' | 'gid'
>

export type HashedFile = {
  readonly id: ObjectId
  readonly stats: FileStats
  readonly readAtMs: number
  readonly lines: number
  /** Set if the content is a secret, unless the rules allow it. */
  readonly secret: SecretContent | undefined
  /** Its pack entry in the data of the batch; undefined if the store has the object. */
  readonly entry: { readonly start: number; readonly end: number; readonly crc: number } | undefined
}

export type HashedBatch = {
  /** May be fewer than the request has: a batch ends early if the files are large. */
  readonly files: readonly (HashedFile | ReadFault)[]
  /** The pack entries, in one block of memory that a thread can transfer. */
  readonly data: ArrayBuffer
}

const ANSWER_BYTES = 2 << 20

export class FileHasher {
  readonly #folder = new VerifiedFolder()
  readonly #loose: LooseListing
  readonly #packs: PackIndexes

  /** Reads the list of stored objects now. */
  constructor(objectsFolder: string) {
    this.#packs = new PackIndexes(objectsFolder)
    this.#packs.refresh()
    this.#loose = new LooseListing(objectsFolder)
  }

  /** Hashes files until the answer is full. */
  hash({ paths, largeBytes }: HashRequest): HashedBatch {
    const files: (HashedFile | ReadFault)[] = []
    const entries: Uint8Array[] = []
    let readBytes = 0
    let start = 0
    try {
      for (const path of paths) {
        if (readBytes >= ANSWER_BYTES) break
        const read = this.#folder.read(path, (at) => readStable(at, largeBytes))
        if (typeof read === 'string') {
          files.push(read)
          continue
        }
        const { content, readAtMs } = read
        const { size, mode, mtimeNs, ctimeNs, ino, uid, gid } = read.stats
        const stats = { size, mode, mtimeNs, ctimeNs, ino, uid, gid }
        const id = objectIdOf('blob', content)
        const isKnown = this.#loose.has(id) || this.#packs.has(id)
        const packed = isKnown ? undefined : encodePackEntry('blob', content)
        const entry = packed && { start, end: start + packed.bytes.length, crc: packed.crc }
        if (packed !== undefined) entries.push(packed.bytes)
        start = entry?.end ?? start
        const [lines, secret] = [linesOf(content), secretIn(path, content)]
        files.push({ id, stats, readAtMs, lines, secret, entry })
        readBytes += content.length
      }
    } finally {
      this.#folder.leave()
    }
    const data = new Uint8Array(start)
    let at = 0
    for (const bytes of entries) {
      data.set(bytes, at)
      at += bytes.length
    }
    return { files, data: data.buffer }
  }

  close(): void {
    this.#packs.close()
  }
}
