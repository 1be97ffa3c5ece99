// Converts rows to the types of the model and back. A path column holds bytes. In JSON, a path is text with one character per byte.
import {
  type Checkpoint,
  type CheckpointKind,
  bytePathFromBytes,
  decodeValue,
  encodeValue,
  type FilesCheckpoint,
  invariant,
  type LeaseOwner,
  type Operation,
  type OperationKind,
  parseCheckpointId,
  parseObjectId,
  parseOperationId,
  parseProjectId,
  parseStateId,
  parseStatus,
  type Project,
  SavestateError,
  type Session,
  type SessionPosition,
  type SkipCounts,
  type Status,
} from '../model/index.js'
import type { Database, SqlRow, SqlValue } from '../system/index.js'
import { parseAuthors } from './checkpoints/authors.js'
import { openForDisplay, refuseSealed, sealColumn, type Vault } from './encryption/index.js'

/** `row` is a row of `checkpoints` joined with `session_id` and `session_agent`. */
export function toCheckpoint(row: SqlRow, vault: Vault): Checkpoint {
  const project = optional(row, 'project')
  const common = {
    id: parseCheckpointId(text(row, 'id')),
    project: project === null ? null : parseProjectId(project),
    kind: text(row, 'kind') as CheckpointKind,
    name: optional(row, 'name'),
    reason: optional(row, 'reason'),
    createdAtMs: number(row, 'created_at'),
    pinned: number(row, 'pinned') !== 0,
    authors: parseAuthors(row['authors']),
    session: row['session'] === null ? null : sessionFactsOf(row, vault),
  }
  if (row['tree'] === null) {
    const { session } = common
    invariant(session !== null, 'a checkpoint without a snapshot has a session')
    // A prune that removes the files keeps their number.
    const pruned = row['file_count'] === null ? {} : ({ filesPruned: true } as const)
    return { ...common, session, commit: null, snapshot: null, changes: null, ...pruned }
  }
  invariant(common.project !== null, 'a checkpoint with a snapshot has a project')
  return { ...common, project: common.project, ...filesOf(row) }
}

function sessionFactsOf(row: SqlRow, vault: Vault): SessionPosition {
  const parent = optional(row, 'parent')
  return {
    key: number(row, 'session'),
    id: text(row, 'session_id'),
    agent: optional(row, 'session_agent'),
    parent: parent === null ? null : parseCheckpointId(parent),
    step: number(row, 'step'),
    status: statusOf(row),
    turn: number(row, 'turn'),
    toolCall: optional(row, 'tool_call'),
    state: row['state'] === null ? null : parseStateId(number(row, 'state')),
    schemaVersion: row['schema_version'] === null ? null : number(row, 'schema_version'),
    metadata: decodeMetadata(vault, 'checkpoints', row),
    operationId: optional(row, 'operation_id'),
  }
}

function filesOf(row: SqlRow): Pick<FilesCheckpoint, 'commit' | 'changes' | 'snapshot'> {
  return {
    commit: parseObjectId(text(row, 'commit')),
    changes: changesOf(row),
    snapshot: {
      tree: parseObjectId(text(row, 'tree')),
      fileCount: number(row, 'file_count'),
      sizeBytes: number(row, 'size_bytes'),
      skippedCounts: JSON.parse(text(row, 'skipped_counts')) as SkipCounts,
    },
  }
}

export function changesOf(row: SqlRow): FilesCheckpoint['changes'] {
  const [files, insertions] = [number(row, 'files'), number(row, 'insertions')]
  return { files, insertions, deletions: number(row, 'deletions') }
}

export function statusOf(row: SqlRow): Status {
  return parseStatus(text(row, 'status'), optional(row, 'status_reason'))
}

export function toProject(row: SqlRow): Project {
  const path = row['path']
  invariant(path instanceof Uint8Array, 'a project row has a path')
  return { id: parseProjectId(text(row, 'id')), path: bytePathFromBytes(path) }
}

export function toOperation(row: SqlRow): Operation {
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

export function toSession(row: SqlRow, vault: Vault): Session {
  const project = optional(row, 'project')
  const head = optional(row, 'head')
  const forkedFrom = optional(row, 'forked_from')
  const owner = optional(row, 'lease_owner')
  return {
    key: number(row, 'key'),
    id: text(row, 'id'),
    agent: optional(row, 'agent'),
    project: project === null ? null : parseProjectId(project),
    status: statusOf(row),
    createdAtMs: number(row, 'created_at'),
    updatedAtMs: number(row, 'updated_at'),
    head: head === null ? null : parseCheckpointId(head),
    nextStep: number(row, 'next_step'),
    turn: number(row, 'turn'),
    metadata: decodeMetadata(vault, 'sessions', row),
    forkedFrom: forkedFrom === null ? null : parseCheckpointId(forkedFrom),
    fence: number(row, 'fence'),
    lease:
      owner === null
        ? null
        : {
            owner: JSON.parse(owner) as LeaseOwner,
            expiresAtMs: number(row, 'lease_expires_at'),
          },
  }
}

/** Undefined if there is none; a SealedValue if the caller did not pass its key. */
function decodeMetadata(vault: Vault, table: 'checkpoints' | 'sessions', row: SqlRow): unknown {
  if (row['metadata'] === null) return undefined
  const shown = openForDisplay(vault, `${table}.metadata`, row)
  return typeof shown === 'string' ? decodeValue(shown) : shown
}

/** Inside the transaction that writes it. */
export function encodeMetadata(
  vault: Vault,
  table: 'checkpoints' | 'sessions',
  { id, metadata }: { readonly id: string; readonly metadata: unknown },
): string | null {
  if (metadata === undefined) return null
  refuseSealed(vault, metadata)
  return sealColumn(vault, `${table}.metadata`, { id, metadata: metadataText(metadata) })
}

/** Without registered classes: the programs that list checkpoints do not know the classes of the agent. */
function metadataText(value: unknown): string {
  try {
    return encodeValue(value, { path: ['metadata'] }).text
  } catch (cause) {
    if (!(cause instanceof SavestateError) || cause.code !== 'STATE_UNSTORABLE') throw cause
    throw new SavestateError('STATE_UNSTORABLE', cause.message, {
      hint: 'Metadata cannot contain class instances, not even of registered classes. Use plain objects instead.',
      cause,
    })
  }
}

/** `onConflict` is the rest of an upsert clause. */
export function insertRow(
  database: Database,
  table: string,
  row: Readonly<Record<string, SqlValue>>,
  { onConflict }: { readonly onConflict?: string } = {},
): void {
  const columns = Object.keys(row).map((column) => `"${column}"`)
  const marks = columns.map(() => '?').join()
  const upsert = onConflict === undefined ? '' : `ON CONFLICT ${onConflict}`
  const sql = `INSERT INTO ${table} (${columns.join()}) VALUES (${marks}) ${upsert}`
  database.run(sql, ...Object.values(row))
}

export function number(row: SqlRow, column: string): number {
  const value = row[column]
  invariant(typeof value === 'number', `the column ${column} holds a number`)
  return value
}

export function text(row: SqlRow, column: string): string {
  const value = row[column]
  invariant(typeof value === 'string', `the column ${column} holds text`)
  return value
}

export function optional(row: SqlRow, column: string): string | null {
  return row[column] === null ? null : text(row, column)
}
