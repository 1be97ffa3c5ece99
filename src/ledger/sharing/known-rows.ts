// Whether the rows that a remote has are rows of this store, or older versions of them; otherwise another host has written them.
import { foldRows, type SegmentContent, type SharedRow } from '../../model/index.js'
import type { Database, SqlRow } from '../../system/index.js'
import { openColumn, type Vault } from '../encryption/index.js'
import { number } from '../rows.js'

type Source = {
  readonly database: Database
  readonly vault: Vault
  /** The key of the session. */
  readonly owner: number
}

/**
 * Whether the session had every row of these segments, which are all that its log has: then they can be replaced, and nothing is lost.
 * Names, pins and files of checkpoints are not compared.
 */
export function hasHadAll(source: Source, segments: readonly SegmentContent[]): boolean {
  const { session, checkpoints, tool_calls: calls, partials } = foldRows(segments).rows
  const callOf = new Map([...calls.values()].map((call) => [call['number'], call]))
  return (
    [...session.values()].every((row) => hasHadSession(source, row)) &&
    [...checkpoints.values()].every((row) => hasCheckpoint(source, row)) &&
    [...calls.values()].every((row) => hasHadCall(source, row)) &&
    [...partials.values()].every((row) => hasHadPartial(source, row, callOf.get(row['call'])))
  )
}

/** A session is in progress before it ends, and a turn is never lower than the one before. */
function hasHadSession({ database, owner }: Source, row: SharedRow): boolean {
  const sql = `SELECT 1 FROM sessions WHERE key = ? AND turn >= ?
      AND (status = ? AND status_reason IS ? OR ? = 'in_progress' AND updated_at >= ?)`
  const { turn, status, status_reason: reason, updated_at: updatedAt } = row
  const values = [turn, status, reason, status, updatedAt].map((value) => value ?? null)
  return database.get(sql, owner, ...values) !== undefined
}

function hasCheckpoint({ database, owner }: Source, { id }: SharedRow): boolean {
  const sql = 'SELECT 1 FROM checkpoints WHERE session = ? AND id = ?'
  return database.get(sql, owner, id ?? null) !== undefined
}

/** A call that is in flight there may have ended here, or may have been started again. An outcome never changes. */
function hasHadCall(source: Source, row: SharedRow): boolean {
  const { started_at: startedAt, status, outcome } = row
  if (status === 'started') return attempts(source, row).length > 0
  return attempts(source, row).some(
    (ours) =>
      ours['started_at'] === startedAt &&
      ours['status'] === status &&
      openColumn(source.vault, 'tool_calls.outcome', ours) === outcome,
  )
}

/** The partial results of a call are removed when it ends, and when it is started again. */
function hasHadPartial(
  source: Source,
  { number: index, value }: SharedRow,
  call: SharedRow | undefined,
): boolean {
  if (call === undefined) return false
  return attempts(source, call).some((ours) => {
    if (ours['status'] !== 'started' || ours['started_at'] !== call['started_at']) return true
    const sql = 'SELECT * FROM partials WHERE call = ? AND number = ?'
    const row = source.database.get(sql, number(ours, 'seq'), index ?? null)
    return row !== undefined && openColumn(source.vault, 'partials.value', row) === value
  })
}

/** The attempt of a call, and later ones that replaced it. */
function attempts({ database, owner }: Source, row: SharedRow): readonly SqlRow[] {
  const sql = 'SELECT * FROM tool_calls WHERE session = ? AND id = ? AND started_at >= ?'
  return database.all(sql, owner, row['id'] ?? null, row['started_at'] ?? null)
}
