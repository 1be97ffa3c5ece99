// Reads, hashes and compresses the files of a batch. Everything here is synchronous: it runs on a hash thread, which has
// nothing else to do, and on the thread of the scan once that is over.
import { type CleanContent, CleanContents } from '../checkout/clean-content.js'
import { ENTRY_BYTES } from '../checkout/index-entry.js'
import { linesOf } from '../objects/count-lines.js'
import { LooseListing } from '../objects/loose.js'
import { PackIndexes } from '../objects/pack-indexes.js'
import { BatchBuilder } from './batch-builder.js'
import type { HashedBatch, HashRequest } from './hashed-batch.js'
import { BulkReader } from './read-file.js'
import { secretIn } from './secret-content.js'
import { VerifiedFolder } from './verified-folder.js'

const ANSWER_BYTES = 2 << 20
const NOTHING = new Uint8Array(0)

export class FileHasher {
  readonly #reader = new BulkReader()
  readonly #clean = new CleanContents()
  readonly #folder = new VerifiedFolder()
  readonly #builder = new BatchBuilder()
  /** Of the files of the batch, in the user's index. */
  #entries = bufferOf(NOTHING)
  readonly #loose: LooseListing
  readonly #packs: PackIndexes

  /** What the store has is looked at now. */
  constructor(objectsFolder: string) {
    this.#packs = new PackIndexes(objectsFolder)
    this.#packs.refresh()
    this.#loose = new LooseListing(objectsFolder)
  }

  /** As many of the files as make one answer. */
  hash(request: HashRequest): HashedBatch {
    try {
      return this.#hash(request)
    } finally {
      this.#folder.leave()
    }
  }

  #hash(request: HashRequest): HashedBatch {
    const { paths, largeBytes } = request
    const builder = this.#builder
    builder.begin(paths.length)
    this.#entries = bufferOf(request.checkout?.entries ?? NOTHING)
    let readBytes = 0
    for (const [i, path] of paths.entries()) {
      if (readBytes >= ANSWER_BYTES) break
      const read = this.#folder.read(
        path,
        (at) => this.#readClean(at, { request, i }) ?? this.#reader.read(at, largeBytes),
      )
      if (typeof read === 'string') {
        builder.addFault(read)
        continue
      }
      const { id, content, readAtMs, stats } = read
      const isKnown = this.#loose.has(id) || this.#packs.has(id)
      const lines = linesOf(content)
      const file = { id, stats, readAtMs, lines, secret: secretIn(path, content) }
      builder.add(file, isKnown ? undefined : read)
      readBytes += content.length
    }
    return builder.finish()
  }

  close(): void {
    this.#clean.close()
    this.#packs.close()
  }

  /** What the user's own repository has of a file that is surely unchanged. */
  #readClean(
    path: string,
    { request, i }: { readonly request: HashRequest; readonly i: number },
  ): CleanContent | undefined {
    const { largeBytes, checkout } = request
    const objects = checkout?.sources[(checkout.sourceOf[i] ?? 0) - 1]
    if (checkout === undefined || objects === undefined) return undefined
    const from = { entries: this.#entries, at: i * ENTRY_BYTES, objects, largeBytes }
    return this.#clean.take(path, from)
  }
}

function bufferOf({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length)
}
