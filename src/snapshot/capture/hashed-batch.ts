// What passes between HashPool and its threads.
import type { ReadFault } from './read-file.js'

/** What became of a batch, in columns: an object for each of thousands of files takes long to hand over. */
export type HashedBatch = {
  /** The ids of all files, 40 digits each; of those that could not be read, zeros. */
  readonly ids: string
  /** For each file: size, mtime, ctime, inode, time of reading (ms), lines, start, end and checksum of its pack entry. */
  readonly numbers: BigInt64Array
  readonly faults: readonly (readonly [index: number, fault: ReadFault])[]
  /** The pack entries; an empty one means that the store has the object. */
  readonly data: ArrayBuffer
}
export const NUMBERS_PER_FILE = 9

export type HashCalls = {
  hashFiles(paths: readonly string[]): Promise<HashedBatch>
}
