// The options and the result of a capture.
import type { ObjectId, Snapshot } from '../../model/index.js'
import type { CaptureProgress } from './progress.js'

export type CaptureWork = {
  /** Snapshots of the project's newest checkpoints: their objects are in the store. */
  readonly knownTrees: readonly ObjectId[]
  /** A few new objects are kept for `takeDeferred` instead of being written. */
  readonly deferObjects: boolean
  readonly report: (progress: CaptureProgress) => void
}

export type Captured = {
  readonly snapshot: Snapshot
  /** Lines of all files, if every file was read in this process. */
  readonly lines: number | undefined
}
