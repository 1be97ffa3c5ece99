// Reads, hashes and compresses the files of a batch. Everything here is synchronous: it runs on a hash thread, which has
// nothing else to do, and on the thread of the scan once that is over.
import { type CleanContent, CleanContents } from '../checkout/clean-content.js'
import { ENTRY_BYTES } from '../checkout/index-entry.js'
import { linesOf } from '../objects/count-lines.js'
import { LooseListing } from '../objects/loose.js'
import { PackIndexes } from '../objects/pack-index.js'
import { BatchBuilder, newEntry } from './batch-builder.js'
import type { HashedBatch, HashRequest } from './hashed-batch.js'
import { BulkReader, type HashedRead } from './read-file.js'
import { secretIn } from './secret-content.js'

const ANSWER_BYTES = 2 << 20

export class FileHasher {
  readonly #reader = new BulkReader()
  readonly #clean = new CleanContents()
  readonly #builder = new BatchBuilder()
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
    const { paths, largeBytes } = request
    const builder = this.#builder
    builder.begin(paths.length)
    let readBytes = 0
    for (const [i, path] of paths.entries()) {
      if (readBytes >= ANSWER_BYTES) break
      const read = this.#readClean(request, i) ?? this.#reader.read(path, largeBytes)
      if (typeof read === 'string') {
        builder.addFault(read)
        continue
      }
      const { id, content, readAtMs, stats } = read
      const isKnown = this.#loose.has(id) || this.#packs.has(id)
      const lines = linesOf(content)
      const file = { id, stats, readAtMs, lines, secret: secretIn(path, content) }
      builder.add(file, isKnown ? undefined : entryOf(read))
      readBytes += content.length
    }
    return builder.finish()
  }

  close(): void {
    this.#clean.close()
    this.#packs.close()
  }

  /** What the user's own repository has of a file that is surely unchanged. */
  #readClean({ paths, largeBytes, checkout }: HashRequest, i: number): CleanContent | undefined {
    const objects = checkout?.sources[(checkout.sourceOf[i] ?? 0) - 1]
    if (checkout === undefined || objects === undefined) return undefined
    const { buffer, byteOffset } = checkout.entries
    const entry = Buffer.from(buffer, byteOffset + i * ENTRY_BYTES, ENTRY_BYTES)
    return this.#clean.take(paths[i] ?? '', { entry, objects, largeBytes })
  }
}

function entryOf({ content, ...read }: CleanContent | HashedRead): readonly Uint8Array[] {
  return 'entry' in read && read.entry !== undefined ? [read.entry] : newEntry(content)
}
