// The nouns that every room speaks of.
import type { BytePath } from './byte-path.js'
import type { SkipCounts, SkipReason } from './entry.js'
import type { CheckpointId, ObjectId, OperationId, ProjectId } from './ids.js'

export type Project = {
  readonly id: ProjectId
  /** The real path of the folder. */
  readonly path: BytePath
}

/** Why a checkpoint was made. */
export type CheckpointKind = 'save' | 'safety' | 'rewind' | 'undo' | 'redo' | 'recovery'

export type Skipped = {
  readonly path: BytePath
  readonly reason: SkipReason
  readonly sizeBytes: number | null
}

/** A git repository found in the project, noted as it stood. */
export type RepositoryNote = {
  readonly path: BytePath
  readonly commit: string | null
  readonly branch: string | null
}

/** What a snapshot is, in figures; `tree` is the whole of it. */
export type SnapshotFigures = {
  readonly tree: ObjectId
  readonly fileCount: number
  readonly sizeBytes: number
  readonly skippedCounts: SkipCounts
}

export type SnapshotDetails = {
  /** At most MAX_SKIPPED_PATHS of them, what a person may miss first. */
  readonly skippedPaths: readonly Skipped[]
  readonly repositories: readonly RepositoryNote[]
}

/** What a capture found and stored. */
export type Snapshot = SnapshotFigures & SnapshotDetails

/** How a snapshot differs from the one before it. */
export type ChangeCounts = {
  readonly files: number
  readonly insertions: number
  readonly deletions: number
}

export type Checkpoint = {
  readonly id: CheckpointId
  readonly project: ProjectId
  readonly kind: CheckpointKind
  readonly name: string | null
  readonly reason: string | null
  readonly createdAtMs: number
  readonly pinned: boolean
  readonly commit: ObjectId
  readonly snapshot: SnapshotFigures
  readonly changes: ChangeCounts
}

export type OperationKind = 'rewind' | 'undo' | 'redo'

/** One finished rewind, undo or redo. */
export type Operation = {
  readonly id: OperationId
  readonly project: ProjectId
  readonly kind: OperationKind
  readonly atMs: number
  /** The folder before. */
  readonly safety: CheckpointId
  /** The folder after. */
  readonly result: CheckpointId
  /** The rewind that an undo took back or a redo did again. */
  readonly of: OperationId | null
}

export const MAX_SKIPPED_PATHS = 1000
