// The columns of the rows in segments: which rows of a table are the same, and what each column may hold. Rows come from other hosts and
// are as untrusted as an import, so `parse-segment.ts` refuses everything that this table does not name.
import type { CheckpointKind } from '../checkpoint.js'
import { STATUS_WORDS, type ToolStatus } from '../session.js'
import { LOG_KINDS, type LogKind } from './log.js'
import { SHARED_TABLES, type SharedRow, type SharedTable } from './segment.js'

/**
 * `label` is a short text, `text` any text, `json` any JSON text; `skip-counts`, `names` and `serial` (thread-rows.ts of the ledger) are
 * JSON or text of a certain form; a `checkpoint` is an id, a `tree` the id of a git object. The last three are numbers of the log.
 */
export type ColumnType =
  | 'label'
  | 'text'
  | 'json'
  | 'skip-counts'
  | 'names'
  | 'serial'
  | 'count'
  | 'integer'
  | 'flag'
  | 'checkpoint'
  | 'tree'
  | 'pack'
  | 'state'
  | 'call'
  | 'details'
  | readonly string[]

export type Column = { readonly type: ColumnType; readonly isOptional: boolean }

type Columns = Readonly<Record<string, Column>>

type TableSpec = {
  readonly log: LogKind
  /** The columns that name a row within its log; none if there is only one row. */
  readonly key: readonly string[]
  readonly columns: Columns
}

const is = (type: ColumnType): Column => ({ type, isOptional: false })
const optional = (type: ColumnType): Column => ({ type, isOptional: true })

const CHECKPOINT_KINDS: readonly CheckpointKind[] = [
  'save',
  'safety',
  'rewind',
  'undo',
  'redo',
  'recovery',
  'imported',
]
const TOOL_STATUSES: readonly ToolStatus[] = ['started', 'confirmed', 'failed', 'skipped']

export const SHARED_COLUMNS: Readonly<Record<SharedTable, TableSpec>> = {
  session: {
    log: 'session',
    key: [],
    columns: {
      agent: optional('label'),
      status: is(STATUS_WORDS),
      status_reason: optional('text'),
      created_at: is('integer'),
      updated_at: is('integer'),
      head: optional('checkpoint'),
      next_step: is('count'),
      turn: is('count'),
      metadata: optional('json'),
      forked_from: optional('checkpoint'),
    },
  },
  checkpoints: {
    log: 'session',
    key: ['id'],
    columns: {
      id: is('checkpoint'),
      kind: is(CHECKPOINT_KINDS),
      name: optional('label'),
      reason: optional('text'),
      created_at: is('integer'),
      pinned: is('flag'),
      // The files: their tree, the pack that completes it, and what lists show. A prune that removes the files keeps their number.
      tree: optional('tree'),
      pack: optional('pack'),
      files: optional('count'),
      insertions: optional('count'),
      deletions: optional('count'),
      file_count: optional('count'),
      size_bytes: optional('count'),
      skipped_counts: optional('skip-counts'),
      details: optional('details'),
      authors: optional('names'),
      named_by: optional(['user', 'agent']),
      parent: optional('checkpoint'),
      step: is('count'),
      status: is(STATUS_WORDS),
      status_reason: optional('text'),
      turn: is('count'),
      tool_call: optional('text'),
      state: optional('state'),
      schema_version: optional('integer'),
      metadata: optional('json'),
      operation_id: optional('text'),
    },
  },
  tool_calls: {
    log: 'session',
    key: ['number'],
    columns: {
      number: is('call'),
      id: is('text'),
      name: is('text'),
      args: is('json'),
      idempotency_key: is('text'),
      status: is(TOOL_STATUSES),
      outcome: optional('json'),
      step: is('count'),
      started_at: is('integer'),
      ended_at: optional('integer'),
      reverted: is('count'),
    },
  },
  partials: {
    log: 'session',
    key: ['call', 'number'],
    columns: { call: is('call'), number: is('count'), value: is('json') },
  },
  saves: {
    log: 'project',
    key: ['id'],
    columns: {
      id: is('checkpoint'),
      kind: is(CHECKPOINT_KINDS),
      name: optional('label'),
      reason: optional('text'),
      created_at: is('integer'),
      pinned: is('flag'),
      tree: is('tree'),
      // Null if its host has not built it yet.
      pack: optional('pack'),
      files: is('count'),
      insertions: is('count'),
      deletions: is('count'),
      file_count: is('count'),
      size_bytes: is('count'),
      skipped_counts: is('skip-counts'),
      details: optional('details'),
      authors: optional('names'),
      named_by: optional(['user', 'agent']),
    },
  },
  thread: {
    log: 'thread',
    key: [],
    columns: { deleted_at: optional('integer'), deleted_to: optional('text') },
  },
  graph_checkpoints: {
    log: 'thread',
    key: ['ns', 'id'],
    columns: {
      ns: is('text'),
      id: is('text'),
      parent: optional('text'),
      state: is('state'),
      facts: is('json'),
      metadata: is('serial'),
      run: optional('text'),
      // A checkpoint of the files of a project. It is not shared, but the host that made it still has it.
      files: optional('checkpoint'),
      deltas: optional('names'),
      sends: optional('text'),
    },
  },
  graph_writes: {
    log: 'thread',
    key: ['ns', 'checkpoint', 'task', 'idx'],
    columns: {
      ns: is('text'),
      checkpoint: is('text'),
      task: is('text'),
      idx: is('integer'),
      channel: is('text'),
      value: is('serial'),
    },
  },
}

const TABLES_OF: ReadonlyMap<LogKind, readonly SharedTable[]> = new Map(
  LOG_KINDS.map((kind) => [kind, SHARED_TABLES.filter((it) => SHARED_COLUMNS[it].log === kind)]),
)

export function tablesOfLog(kind: LogKind): readonly SharedTable[] {
  return TABLES_OF.get(kind) ?? []
}

/** Equal for two versions of one row. */
export function sharedRowKey(table: SharedTable, row: SharedRow): string {
  const [first, ...rest] = SHARED_COLUMNS[table].key
  if (first === undefined) return ''
  if (rest.length === 0) return String(row[first])
  return JSON.stringify([row[first], ...rest.map((column) => row[column])])
}
