// Notes which rows of shared logs change, by triggers, so that every operation is captured and none knows of remotes. The triggers belong
// to the connection: a trigger in the file would be refused as planted (docs/decisions/0002-sqlite-driver.md).
import type { Database } from '../../system/index.js'
import type { LogKind, SharedTable } from '../../model/index.js'
import { logOfSave } from './members.js'

/** Creates the triggers if a log is shared. Call it at the start of each transaction until it returns true. */
export function noteChanges(database: Database): boolean {
  if (database.get('SELECT 1 FROM shared_logs LIMIT 1') === undefined) return false
  database.exec(TRIGGERS)
  return true
}

type Watched = {
  readonly table: string
  readonly as: SharedTable
  readonly log: LogKind
  /** The owner of the log and the key of the row; `it` is NEW or OLD. */
  readonly owner: (it: string) => string
  readonly row: (it: string) => string
  /** The columns whose change counts; all if absent. */
  readonly columns?: readonly string[]
}

const WATCHED: readonly Watched[] = [
  {
    table: 'sessions',
    as: 'session',
    log: 'session',
    owner: (it) => `${it}.key`,
    row: () => `''`,
    // Without the lease: a heartbeat is no change.
    columns: [
      'agent',
      'status',
      'status_reason',
      'created_at',
      'updated_at',
      'head',
      'next_step',
      'turn',
      'metadata',
      'forked_from',
      'deleted_at',
    ],
  },
  {
    table: 'checkpoints',
    as: 'checkpoints',
    log: 'session',
    owner: (it) => `${it}.session`,
    row: (it) => `${it}.id`,
    // Without the columns that mean nothing elsewhere: project, commit, damage and the order in the store.
    columns: [
      'kind',
      'name',
      'reason',
      'created_at',
      'pinned',
      'tree',
      'files',
      'insertions',
      'deletions',
      'file_count',
      'size_bytes',
      'skipped_counts',
      'details',
      'session',
      'parent',
      'step',
      'status',
      'status_reason',
      'turn',
      'tool_call',
      'state',
      'schema_version',
      'metadata',
      'operation_id',
      'authors',
      'named_by',
    ],
  },
  {
    table: 'checkpoints',
    as: 'saves',
    log: 'project',
    owner: (it) =>
      `CASE WHEN ${it}.session IS NULL THEN (SELECT key FROM project_logs WHERE id = ${logOfSave(it)}) END`,
    row: (it) => `${it}.id`,
    columns: [
      'kind',
      'name',
      'reason',
      'created_at',
      'pinned',
      'tree',
      'files',
      'insertions',
      'deletions',
      'file_count',
      'size_bytes',
      'skipped_counts',
      'details',
      'session',
      'authors',
      'named_by',
    ],
  },
  {
    table: 'tool_calls',
    as: 'tool_calls',
    log: 'session',
    owner: (it) => `${it}.session`,
    row: (it) => `${it}.seq`,
  },
  {
    table: 'partials',
    as: 'partials',
    log: 'session',
    owner: (it) => `(SELECT session FROM tool_calls WHERE seq = ${it}.call)`,
    row: (it) => `json_array(${it}.call, ${it}.number)`,
  },
  {
    table: 'threads',
    as: 'thread',
    log: 'thread',
    owner: (it) => `${it}.key`,
    row: () => `''`,
  },
  {
    table: 'graph_checkpoints',
    as: 'graph_checkpoints',
    log: 'thread',
    owner: (it) => `${it}.thread`,
    row: (it) => `json_array(${it}.ns, ${it}.id)`,
  },
  {
    table: 'graph_writes',
    as: 'graph_writes',
    log: 'thread',
    owner: (it) => `${it}.thread`,
    row: (it) => `json_array(${it}.ns, ${it}.checkpoint, ${it}.task, ${it}.idx)`,
  },
]

const TRIGGERS = WATCHED.flatMap((watched) => [
  trigger(watched, { event: 'INSERT', its: ['NEW'] }),
  // A checkpoint may leave its session.
  trigger(watched, { event: updateOf(watched), its: ['OLD', 'NEW'] }),
  trigger(watched, { event: 'DELETE', its: ['OLD'] }),
]).join('\n')

function updateOf({ columns }: Watched): string {
  return columns === undefined ? 'UPDATE' : `UPDATE OF ${columns.join()}`
}

function trigger(
  { table, as, log, owner, row }: Watched,
  { event, its }: { readonly event: string; readonly its: readonly string[] },
): string {
  // Not INSERT OR IGNORE: in a trigger, the conflict clause of the statement that fired it applies instead.
  const notes = its.map(
    (it) =>
      `INSERT INTO shared_changes (log, kind, row) SELECT key, '${as}', ${row(it)} FROM shared_logs
       WHERE owner = ${owner(it)} AND kind = '${log}' AND is_applying = 0 AND NOT EXISTS
         (SELECT 1 FROM shared_changes WHERE log = key AND kind = '${as}' AND row = CAST(${row(it)} AS TEXT));`,
  )
  const name = `note_${as}_${event.split(' ')[0]?.toLowerCase()}`
  return `CREATE TEMP TRIGGER IF NOT EXISTS ${name} AFTER ${event} ON file.${table} BEGIN ${notes.join(' ')} END;`
}
