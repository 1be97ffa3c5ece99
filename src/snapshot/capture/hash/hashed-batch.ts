// What passes between HashPool and its threads.
import type { MessagePort } from 'node:worker_threads'
import type { Fault } from '../../../system/index.js'
import type { ReadFault } from './read-file.js'
import type { SecretContent } from '../scan/secret-content.js'

/** What became of a batch, in columns: an object for each of thousands of files takes long to hand over. */
export type HashedBatch = {
  /** How many files were done: a thread answers early when they are large. */
  readonly count: number
  /** The ids of all files, 40 digits each; of those that could not be read, zeros. */
  readonly ids: string
  /** For each file: mtime, ctime and inode. */
  readonly stamps: BigInt64Array<ArrayBuffer>
  /** For each file: size, mode, time of reading (ms), lines, start, end and checksum of its pack entry, uid, gid. */
  readonly figures: Float64Array<ArrayBuffer>
  readonly faults: readonly (readonly [index: number, fault: ReadFault])[]
  /** Those whose content is a secret, if the rules do not let it in. */
  readonly secrets: readonly (readonly [index: number, secret: SecretContent])[]
  /** The pack entries; an empty one means that the store has the object. */
  readonly data: ArrayBuffer
}
export const STAMPS_PER_FILE = 3
export const FIGURES_PER_FILE = 9

export type HashRequest = {
  readonly paths: readonly string[]
  /** What is as large or larger is not for a thread to read. */
  readonly largeBytes: number
}
export type HashReply = HashedBatch | { readonly fault: Fault }

export type HashThreadData = { readonly objectsFolder: string; readonly port: MessagePort }
