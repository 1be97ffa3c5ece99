// Reads, hashes and compresses the files of a batch. It is synchronous, because it runs on hash threads, and on the scan's
// thread after the scan.
import { linesOf } from '../../objects/count-lines.js'
import { LooseListing } from '../../objects/loose.js'
import { PackIndexes } from '../../objects/pack-indexes.js'
import { BatchBuilder } from './batch-builder.js'
import type { HashedBatch, HashRequest } from './hashed-batch.js'
import { BulkReader } from './read-file.js'
import { secretIn } from '../scan/secret-content.js'
import { VerifiedFolder } from '../scan/verified-folder.js'

const ANSWER_BYTES = 2 << 20

export class FileHasher {
  readonly #reader = new BulkReader()
  readonly #folder = new VerifiedFolder()
  readonly #builder = new BatchBuilder()
  readonly #loose: LooseListing
  readonly #packs: PackIndexes

  /** Reads the list of stored objects now. */
  constructor(objectsFolder: string) {
    this.#packs = new PackIndexes(objectsFolder)
    this.#packs.refresh()
    this.#loose = new LooseListing(objectsFolder)
  }

  /** Hashes files until the answer is full; see `count`. */
  hash(request: HashRequest): HashedBatch {
    try {
      return this.#hash(request)
    } finally {
      this.#folder.leave()
    }
  }

  #hash({ paths, largeBytes }: HashRequest): HashedBatch {
    const builder = this.#builder
    builder.begin(paths.length)
    let readBytes = 0
    for (const path of paths) {
      if (readBytes >= ANSWER_BYTES) break
      const read = this.#folder.read(path, (at) => this.#reader.read(at, largeBytes))
      if (typeof read === 'string') {
        builder.addFault(read)
        continue
      }
      const { id, content, readAtMs, stats } = read
      const isKnown = this.#loose.has(id) || this.#packs.has(id)
      const lines = linesOf(content)
      const file = { id, stats, readAtMs, lines, secret: secretIn(path, content) }
      builder.add(file, isKnown ? undefined : content)
      readBytes += content.length
    }
    return builder.finish()
  }

  close(): void {
    this.#packs.close()
  }
}
