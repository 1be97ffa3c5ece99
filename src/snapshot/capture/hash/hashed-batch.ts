// The messages between HashPool and its threads.
import type { MessagePort } from 'node:worker_threads'
import type { Fault } from '../../../system/index.js'
import type { ReadFault } from './read-file.js'
import type { SecretContent } from '../scan/secret-content.js'

/** The result of a batch, in columns: transferring thousands of objects between threads is slow. */
export type HashedBatch = {
  /** The number of files done: a thread answers early if they are large. */
  readonly count: number
  /** The ids of all files, 40 digits each; zeros for unreadable files. */
  readonly ids: string
  /** For each file: mtime, ctime and inode. */
  readonly stamps: BigInt64Array<ArrayBuffer>
  /** For each file: size, mode, time of reading (ms), lines, start, end and checksum of its pack entry, uid, gid. */
  readonly figures: Float64Array<ArrayBuffer>
  readonly faults: readonly (readonly [index: number, fault: ReadFault])[]
  /** Files whose content is a secret, unless the rules allow it. */
  readonly secrets: readonly (readonly [index: number, secret: SecretContent])[]
  /** The pack entries; an empty entry means that the store has the object. */
  readonly data: ArrayBuffer
}
export const STAMPS_PER_FILE = 3
export const FIGURES_PER_FILE = 9

export type HashRequest = {
  readonly paths: readonly string[]
  /** Files of this size or larger are not read by a thread. */
  readonly largeBytes: number
}
export type HashReply = HashedBatch | { readonly fault: Fault }

export type HashThreadData = { readonly objectsFolder: string; readonly port: MessagePort }
