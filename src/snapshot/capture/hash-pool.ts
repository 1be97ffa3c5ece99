// Reads, hashes and compresses on as many threads as there are cores. Work goes out in batches, a few at
// a time for each thread, so that memory stays bounded whatever the project holds.
import { availableParallelism } from 'node:os'
import type { ObjectId } from '../../model/index.js'
import { startThread, type Thread } from '../../system/index.js'
import type { HashCalls, HashedFile } from '../hash-thread.js'
import type { NewObject } from '../objects/loose.js'
import type { PackEntry } from '../objects/pack-entry.js'
import { giveUp, type HashContext } from './hash-files.js'
import type { Pending } from './scan.js'
import { isSettled } from './stats.js'

const MAX_THREADS = 4
const BATCH_FILES = 200
const BATCH_BYTES = 2 << 20
const BATCHES_PER_THREAD = 2

export class HashPool {
  readonly #threads: readonly Thread<HashCalls>[]

  constructor(url: URL, objectsFolder: string) {
    const count = Math.min(MAX_THREADS, Math.max(1, availableParallelism()))
    this.#threads = Array.from({ length: count }, () =>
      startThread<HashCalls>(url, { objectsFolder }),
    )
  }

  async hash(pending: readonly Pending[], { sink, onProgress }: HashContext): Promise<void> {
    const sizeOf = ({ node }: Pending) => node.size
    await this.#spread(batches(pending, sizeOf), async (thread, batch) => {
      const { files, data } = await thread.call(
        'hashFiles',
        batch.map(({ path }) => path),
      )
      const bytes = Buffer.from(data)
      files.forEach((file, i) => {
        const item = batch[i]
        if (item === undefined) return
        if (typeof file === 'string') {
          giveUp(item, file)
          return
        }
        take(item, file)
        const entry = { bytes: bytes.subarray(file.start, file.end), crc: file.crc }
        if (file.end > file.start) sink.addCompressed(file.id, entry)
      })
      onProgress(
        batch.length,
        batch.reduce((sum, item) => sum + sizeOf(item), 0),
      )
    })
  }

  async compress(objects: readonly NewObject[]): Promise<readonly PackEntry[]> {
    const entries = new Map<ObjectId, PackEntry>()
    await this.#spread(
      batches(objects, ({ content }) => content.length),
      async (thread, batch) => {
        const plain = batch.map(({ type, content }) => ({ type, content }))
        const packed = await thread.call('compress', plain)
        batch.forEach(({ id }, i) => {
          const entry = packed[i]
          if (entry !== undefined)
            entries.set(id, { bytes: Buffer.from(entry.bytes), crc: entry.crc })
        })
      },
    )
    return objects.flatMap(({ id }) => entries.get(id) ?? [])
  }

  async close(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.close()))
  }

  async #spread<T>(
    work: readonly (readonly T[])[],
    run: (thread: Thread<HashCalls>, batch: readonly T[]) => Promise<void>,
  ): Promise<void> {
    let next = 0
    const drain = async (thread: Thread<HashCalls>) => {
      for (let batch = work[next++]; batch !== undefined; batch = work[next++])
        await run(thread, batch)
    }
    const lanes = this.#threads.flatMap((thread) =>
      Array.from({ length: BATCHES_PER_THREAD }, () => drain(thread)),
    )
    await Promise.all(lanes)
  }
}

function take({ node }: Pending, file: HashedFile): void {
  node.size = file.size
  node.mtimeNs = file.mtimeNs
  node.ctimeNs = file.ctimeNs
  node.ino = file.ino
  node.settled = isSettled(file, file.readAtMs)
  node.id = file.id
  node.lines = file.lines
}

function batches<T>(items: readonly T[], sizeOf: (item: T) => number): T[][] {
  const all: T[][] = []
  let batch: T[] = []
  let bytes = 0
  for (const item of items) {
    batch.push(item)
    bytes += sizeOf(item)
    if (batch.length >= BATCH_FILES || bytes >= BATCH_BYTES) {
      all.push(batch)
      batch = []
      bytes = 0
    }
  }
  if (batch.length > 0) all.push(batch)
  return all
}
