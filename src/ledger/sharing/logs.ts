// The rows of shared logs: where each one is on its remote.
import {
  invariant,
  LOG_KINDS,
  type LogKind,
  type LogName,
  type LogPosition,
  SavestateError,
} from '../../model/index.js'
import type { Database, SqlRow } from '../../system/index.js'
import { number, optional, text } from '../rows.js'

/** The key of a row of `shared_logs`. */
export type LogKey = number

export type SharedLog = {
  readonly log: LogName
  /** The id that the remote gave itself. */
  readonly remote: string
  /** After the last segment that the remote confirmed, or that came from there. */
  readonly position: LogPosition
  /** The fence of the lease on the remote; null if none is remembered. */
  readonly fence: number | null
  /** Whether something here is not on the remote, or not known to be. */
  readonly isDirty: boolean
  /** Whether the next segment is a base: everything of the log is sent. */
  readonly needsBase: boolean
  /** Whether a segment was encoded and not confirmed. */
  readonly isPending: boolean
  /** Whether the session or project was deleted here. Nothing of it is shared any more; `unshare` forgets it. */
  readonly isDeleted: boolean
}

/** For this folder only. */
export type LogRow = SharedLog & {
  readonly key: LogKey
  /** The key of the session, the thread, or the row of `project_logs`. */
  readonly owner: number
  readonly nextNumber: number
  /** Steps of the session below this one are on the remote. */
  readonly nextStep: number
}

const SELECT = `SELECT shared_logs.*, coalesce(sessions.id, threads.id, project_logs.id) AS id,
    sessions.deleted_at IS NOT NULL OR (project_logs.id IS NOT NULL AND project_logs.project IS NULL) AS is_deleted,
    EXISTS (SELECT 1 FROM shared_changes WHERE log = shared_logs.key) AS has_changes,
    EXISTS (SELECT 1 FROM shared_outbox WHERE log = shared_logs.key) AS is_pending
  FROM shared_logs
  LEFT JOIN sessions ON shared_logs.kind = 'session' AND sessions.key = owner
  LEFT JOIN threads ON shared_logs.kind = 'thread' AND threads.key = owner
  LEFT JOIN project_logs ON shared_logs.kind = 'project' AND project_logs.key = owner`

export function findLog(database: Database, log: LogName): LogRow | undefined {
  const owner = findOwner(database, log)
  if (owner === undefined) return undefined
  const sql = `${SELECT} WHERE owner = ? AND shared_logs.kind = ?`
  const row = database.get(sql, owner, log.kind)
  return row === undefined ? undefined : toLogRow(row)
}

/** Throws SESSION_UNKNOWN if it is not shared. */
export function requireLog(database: Database, log: LogName): LogRow {
  const found = findLog(database, log)
  if (found !== undefined) return found
  throw new SavestateError(
    'SESSION_UNKNOWN',
    `The ${log.kind} ${JSON.stringify(log.id)} is not shared`,
  )
}

export function listLogs(database: Database): LogRow[] {
  return database.all(`${SELECT} ORDER BY shared_logs.key`).map(toLogRow)
}

const OWNERS: Readonly<Record<LogKind, string>> = {
  session: 'sessions',
  thread: 'threads',
  project: 'project_logs',
}

/** The key of the session, thread or project, even if it was deleted. */
export function findOwner(database: Database, { kind, id }: LogName): number | undefined {
  const row = database.get(`SELECT key FROM ${OWNERS[kind]} WHERE id = ?`, id)
  return row === undefined ? undefined : number(row, 'key')
}

/** `project` is the one here that has its checkpoints; for a known log that still has one, it changes nothing. */
export function ensureProjectLog(database: Database, id: string, project: string | null): void {
  database.run(
    `INSERT INTO project_logs (id, project) VALUES (?, ?)
     ON CONFLICT (id) DO UPDATE SET project = coalesce(project, excluded.project)`,
    id,
    project,
  )
}

export function insertLog(
  database: Database,
  {
    kind,
    owner,
    remote,
  }: { readonly kind: LogKind; readonly owner: number; readonly remote: string },
): void {
  const sql = 'INSERT INTO shared_logs (kind, owner, remote) VALUES (?, ?, ?)'
  database.run(sql, kind, owner, remote)
}

/** Inside a transaction. Changes of the log's rows in `work` are not noted: they come from elsewhere, or mean nothing there. */
export function withoutNotes<T>(database: Database, log: LogKey, work: () => T): T {
  const sql = 'UPDATE shared_logs SET is_applying = ? WHERE key = ?'
  database.run(sql, 1, log)
  // No `finally`: after an error, the transaction is rolled back.
  const result = work()
  database.run(sql, 0, log)
  return result
}

/** Inside a transaction. */
export function forgetNumbers(database: Database, log: LogKey): void {
  database.run('DELETE FROM shared_numbers WHERE log = ?', log)
}

export function toSharedLog(row: LogRow): SharedLog {
  const { log, remote, position, fence, isDirty, needsBase, isPending, isDeleted } = row
  return { log, remote, position, fence, isDirty, needsBase, isPending, isDeleted }
}

function toLogRow(row: SqlRow): LogRow {
  const kind = LOG_KINDS.find((each) => each === row['kind'])
  invariant(kind !== undefined, 'a log has one of the known kinds')
  const needsBase = number(row, 'needs_base') === 1
  const isPending = number(row, 'is_pending') === 1
  return {
    key: number(row, 'key'),
    owner: number(row, 'owner'),
    log: { kind, id: text(row, 'id') },
    remote: text(row, 'remote'),
    position: {
      nextN: number(row, 'next_n'),
      epoch: number(row, 'epoch'),
      hash: optional(row, 'hash'),
    },
    fence: row['fence'] === null ? null : number(row, 'fence'),
    isDirty: needsBase || isPending || number(row, 'has_changes') === 1,
    isPending,
    isDeleted: number(row, 'is_deleted') === 1,
    needsBase,
    nextNumber: number(row, 'next_number'),
    nextStep: number(row, 'next_step'),
  }
}
