// What a capture is asked for, and what it gives.
import type { ObjectId, Snapshot } from '../../model/index.js'
import type { CaptureProgress } from './progress.js'

export type CaptureWork = {
  /** Snapshots of the project's newest checkpoints: what they hold is surely in the store. */
  readonly held: readonly ObjectId[]
  /** Few new objects are kept for `takeHeld` instead of being written. */
  readonly holdObjects: boolean
  readonly report: (progress: CaptureProgress) => void
}

export type Captured = {
  readonly snapshot: Snapshot
  /** Lines of all files, if every one of them was read just now. */
  readonly lines: number | undefined
}
