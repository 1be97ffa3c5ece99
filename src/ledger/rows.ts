// Between rows and nouns. Paths are bytes; lists are JSON (in which a path is text of one character per
// byte, so that nothing is lost).
import {
  type ChangeCounts,
  type Checkpoint,
  type CheckpointKind,
  bytePathOf,
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
  type SessionFacts,
  type SkipCounts,
} from '../model/index.js'
import type { SqlRow } from '../system/index.js'
import { parseAuthors } from './checkpoints/authors.js'
import {
  checkpointContext,
  openForDisplay,
  type SealContext,
  refuseSealed,
  sealText,
  sessionContext,
  type Vault,
} from './encryption/index.js'

/** Rows of `checkpoints` with `session_id` and `session_agent`, from the row of the session. */
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
    // A prune that takes the files leaves their number.
    const pruned = row['file_count'] === null ? {} : ({ filesPruned: true } as const)
    return { ...common, session, commit: null, snapshot: null, changes: null, ...pruned }
  }
  invariant(common.project !== null, 'a checkpoint with a snapshot has a project')
  return { ...common, project: common.project, ...filesOf(row) }
}

function changesOf(row: SqlRow): ChangeCounts {
  return {
    files: number(row, 'files'),
    insertions: number(row, 'insertions'),
    deletions: number(row, 'deletions'),
  }
}

function skippedCountsOf(row: SqlRow): SkipCounts {
  return JSON.parse(text(row, 'skipped_counts')) as SkipCounts
}

function sessionFactsOf(row: SqlRow, vault: Vault): SessionFacts {
  const parent = optional(row, 'parent')
  return {
    key: number(row, 'session'),
    id: text(row, 'session_id'),
    agent: optional(row, 'session_agent'),
    parent: parent === null ? null : parseCheckpointId(parent),
    step: number(row, 'step'),
    status: parseStatus(text(row, 'status'), optional(row, 'status_reason')),
    turn: number(row, 'turn'),
    toolCall: optional(row, 'tool_call'),
    state: row['state'] === null ? null : parseStateId(number(row, 'state')),
    schemaVersion: row['schema_version'] === null ? null : number(row, 'schema_version'),
    metadata: decodeMetadata(row, { vault, context: checkpointContext(text(row, 'id')) }),
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
      skippedCounts: skippedCountsOf(row),
    },
  }
}

export function toProject(row: SqlRow): Project {
  const path = row['path']
  invariant(path instanceof Uint8Array, 'a project row has a path')
  return { id: parseProjectId(text(row, 'id')), path: bytePathOf(path) }
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
    status: parseStatus(text(row, 'status'), optional(row, 'status_reason')),
    createdAtMs: number(row, 'created_at'),
    updatedAtMs: number(row, 'updated_at'),
    head: head === null ? null : parseCheckpointId(head),
    nextStep: number(row, 'next_step'),
    turn: number(row, 'turn'),
    metadata: decodeMetadata(row, { vault, context: sessionContext(text(row, 'id')) }),
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

type Sealable = { readonly vault: Vault; readonly context: SealContext }

/** A value of the caller's, in the form of the serializer; absent is undefined. Without its key a SealedValue. */
function decodeMetadata(row: SqlRow, { vault, context }: Sealable): unknown {
  const stored = optional(row, 'metadata')
  if (stored === null) return undefined
  const shown = openForDisplay(vault, stored, context)
  return 'sealed' in shown ? shown.sealed : decodeValue(shown.text)
}

/** Inside the transaction that writes it. */
export function encodeMetadata(value: unknown, { vault, context }: Sealable): string | null {
  if (value === undefined) return null
  refuseSealed(vault, value)
  return sealText(vault, metadataText(value), context)
}

/** Whoever lists checkpoints reads it, and does not know the classes of the agent. */
function metadataText(value: unknown): string {
  try {
    return encodeValue(value, { path: ['metadata'] }).text
  } catch (cause) {
    if (!(cause instanceof SavestateError) || cause.code !== 'STATE_UNSTORABLE') throw cause
    throw new SavestateError('STATE_UNSTORABLE', cause.message, {
      hint: 'Metadata cannot contain instances of classes, not even of registered ones: put what is needed into a plain object.',
      cause,
    })
  }
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
