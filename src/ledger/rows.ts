// Between rows and nouns. Paths are bytes; lists are JSON (in which a path is text of one character per
// byte, so that nothing is lost).
import {
  type Checkpoint,
  type CheckpointKind,
  bytePathOf,
  invariant,
  type Operation,
  type OperationKind,
  parseCheckpointId,
  parseObjectId,
  parseOperationId,
  parseProjectId,
  type Project,
  type SkipCounts,
  type SnapshotDetails,
} from '../model/index.js'
import type { SqlRow } from '../system/index.js'

export function checkpointOf(row: SqlRow): Checkpoint {
  return {
    id: parseCheckpointId(text(row, 'id')),
    project: parseProjectId(text(row, 'project')),
    kind: text(row, 'kind') as CheckpointKind,
    name: optional(row, 'name'),
    reason: optional(row, 'reason'),
    createdAtMs: number(row, 'created_at'),
    pinned: number(row, 'pinned') !== 0,
    commit: parseObjectId(text(row, 'commit')),
    changes: {
      files: number(row, 'files'),
      insertions: number(row, 'insertions'),
      deletions: number(row, 'deletions'),
    },
    snapshot: {
      tree: parseObjectId(text(row, 'tree')),
      fileCount: number(row, 'file_count'),
      sizeBytes: number(row, 'size_bytes'),
      skippedCounts: JSON.parse(text(row, 'skipped_counts')) as SkipCounts,
    },
  }
}

export function detailsOf(row: SqlRow): SnapshotDetails {
  return JSON.parse(text(row, 'json')) as SnapshotDetails
}

export function projectOf(row: SqlRow): Project {
  const path = row['path']
  invariant(path instanceof Uint8Array, 'a project row has a path')
  return { id: parseProjectId(text(row, 'id')), path: bytePathOf(path) }
}

export function operationOf(row: SqlRow): Operation {
  const of = optional(row, 'of')
  return {
    id: parseOperationId(text(row, 'id')),
    project: parseProjectId(text(row, 'project')),
    kind: text(row, 'kind') as OperationKind,
    atMs: number(row, 'at'),
    safety: parseCheckpointId(text(row, 'safety')),
    result: parseCheckpointId(text(row, 'result')),
    of: of === null ? null : parseOperationId(of),
  }
}

export function number(row: SqlRow, column: string): number {
  const value = row[column]
  invariant(typeof value === 'number', `the column ${column} holds a number`)
  return value
}

function text(row: SqlRow, column: string): string {
  const value = row[column]
  invariant(typeof value === 'string', `the column ${column} holds text`)
  return value
}

function optional(row: SqlRow, column: string): string | null {
  return row[column] === null ? null : text(row, column)
}
