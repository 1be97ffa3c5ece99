// The rows of sessions. Every write names the fencing number of its writer. Once another process has taken over the session, the
// writes of the old one fail (I11).
import {
  type CheckpointId,
  IN_PROGRESS,
  invariant,
  type LeaseOwner,
  parseCheckpointId,
  type ProjectId,
  SavestateError,
  type Session,
  type SessionKey,
  type Status,
  type StatusWord,
} from '../../model/index.js'
import type { SqlValue } from '../../system/index.js'
import { mergeAuthorsIntoNext } from '../checkpoints/authors.js'
import { toSession, encodeMetadata } from '../rows.js'
import { SealedTable } from '../ledger-table.js'

export type NewSession = {
  readonly id: string
  readonly agent: string | null
  readonly project: ProjectId | null
  readonly metadata: unknown
  readonly atMs: number
}

export type SessionQuery = {
  readonly status?: StatusWord | undefined
  readonly project?: ProjectId | undefined
  readonly limit?: number | undefined
}

/** Proves that a writer holds the lease of a session. */
export type LeaseToken = { readonly key: SessionKey; readonly id: string; readonly fence: number }

// Takes the time twice. The column never goes back, and a change always increases it, even if the clock is behind.
const UPDATED_AT = 'updated_at = max(?, updated_at + (? < updated_at))'

export class Sessions extends SealedTable {
  /** Undefined for a deleted session. */
  byId(id: string): Session | undefined {
    const row = this.database.get('SELECT * FROM sessions WHERE id = ? AND deleted_at IS NULL', id)
    return row === undefined ? undefined : toSession(row, this.vault)
  }

  byKey(key: SessionKey): Session | undefined {
    const sql = 'SELECT * FROM sessions WHERE key = ? AND deleted_at IS NULL'
    const row = this.database.get(sql, key)
    return row === undefined ? undefined : toSession(row, this.vault)
  }

  /** Last updated first. */
  list({ status, project, limit }: SessionQuery): Session[] {
    const rows = this.database.all(
      `SELECT * FROM sessions WHERE deleted_at IS NULL ${status === undefined ? '' : 'AND status = ?'}
         ${project === undefined ? '' : 'AND project = ?'} ORDER BY updated_at DESC, key DESC LIMIT ?`,
      ...[status, project].filter((value) => value !== undefined),
      limit ?? -1,
    )
    return rows.map((row) => toSession(row, this.vault))
  }

  /** Inside a transaction. Replaces a deleted session of the same id, with a higher fence. */
  create({ id, agent, project, metadata, atMs }: NewSession): Session {
    this.database.run(
      `INSERT INTO sessions (id, agent, project, status, created_at, updated_at, metadata)
       VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET agent = excluded.agent, project = excluded.project,
         status = excluded.status, status_reason = NULL, created_at = excluded.created_at,
         updated_at = excluded.updated_at, metadata = excluded.metadata, head = NULL, forked_from = NULL,
         fence = fence + 1, lease_owner = NULL, lease_expires_at = NULL, deleted_at = NULL
       WHERE deleted_at IS NOT NULL`,
      id,
      agent,
      project,
      IN_PROGRESS.state,
      atMs,
      atMs,
      encodeMetadata(this.vault, 'sessions', { id, metadata }),
    )
    const session = this.byId(id)
    invariant(session !== undefined, 'a created session exists')
    return session
  }

  /** Inside a transaction, after the caller has found no lease, an expired one, or one of a dead process. */
  takeLease(key: SessionKey, lease: { owner: LeaseOwner; expiresAtMs: number }): Session {
    const sql =
      'UPDATE sessions SET fence = fence + 1, lease_owner = ?, lease_expires_at = ? WHERE key = ?'
    this.database.run(sql, JSON.stringify(lease.owner), lease.expiresAtMs, key)
    const session = this.byKey(key)
    invariant(session !== undefined, 'a leased session exists')
    return session
  }

  renewLease(token: LeaseToken, expiresAtMs: number): void {
    this.#update(token, 'lease_expires_at = ?', expiresAtMs)
  }

  /** Does nothing if another process has the lease by now. */
  releaseLease({ key, fence }: LeaseToken): void {
    const sql =
      'UPDATE sessions SET lease_owner = NULL, lease_expires_at = NULL WHERE key = ? AND fence = ?'
    this.database.run(sql, key, fence)
  }

  /** Ends the right to write, because another process got it elsewhere. Does nothing if another process here has the lease by now. */
  fence({ key, fence }: LeaseToken): void {
    this.database.run(
      `UPDATE sessions SET fence = fence + 1, lease_owner = NULL, lease_expires_at = NULL
       WHERE key = ? AND fence = ?`,
      key,
      fence,
    )
  }

  /** Inside the transaction of every write. Throws SESSION_FENCED or SESSION_DELETED. */
  check(token: LeaseToken): void {
    this.#update(token, 'fence = fence')
  }

  advance(
    token: LeaseToken,
    to: { head: CheckpointId; status: Status; atMs: number; leaseUntilMs: number | null },
  ): void {
    this.#update(
      token,
      `head = ?, status = ?, status_reason = ?, ${UPDATED_AT}, next_step = next_step + 1,
       lease_expires_at = coalesce(?, lease_expires_at)`,
      to.head,
      to.status.state,
      'reason' in to.status ? to.status.reason : null,
      to.atMs,
      to.atMs,
      to.leaseUntilMs,
    )
  }

  setStatus(token: LeaseToken, { status, atMs }: { status: Status; atMs: number }): void {
    const reason = 'reason' in status ? status.reason : null
    const set = `status = ?, status_reason = ?, ${UPDATED_AT}`
    this.#update(token, set, status.state, reason, atMs, atMs)
  }

  setTurn(token: LeaseToken, turn: number): void {
    this.#update(token, 'turn = ?', turn)
  }

  setForkedFrom(token: LeaseToken, from: CheckpointId): void {
    this.#update(token, 'forked_from = ?', from)
  }

  /** Inside a transaction. Removes checkpoints and tool calls, keeps the row as a tombstone, and returns the number of checkpoints. */
  delete(key: SessionKey, atMs: number): number {
    const sql = 'DELETE FROM partials WHERE call IN (SELECT seq FROM tool_calls WHERE session = ?)'
    this.database.run(sql, key)
    this.database.run('DELETE FROM tool_calls WHERE session = ?', key)
    // A rewind of the project's files can still be undone: the checkpoints that it needs stay, without the session.
    const kept = this.database.run(
      `UPDATE checkpoints SET session = NULL, parent = NULL, step = NULL, status = NULL, status_reason = NULL,
         turn = NULL, tool_call = NULL, state = NULL, schema_version = NULL, metadata = NULL, operation_id = NULL
       WHERE session = ? AND tree IS NOT NULL AND (id IN (SELECT safety FROM operations)
         OR id IN (SELECT result FROM operations))`,
      key,
    )
    const rows = this.database.all('SELECT id FROM checkpoints WHERE session = ?', key)
    const ids = rows.map((row) => parseCheckpointId(String(row['id'])))
    mergeAuthorsIntoNext(this.database, ids)
    const { changes } = this.database.run('DELETE FROM checkpoints WHERE session = ?', key)
    this.database.run(
      `UPDATE sessions SET deleted_at = ?, fence = fence + 1, head = NULL, metadata = NULL, lease_owner = NULL,
       lease_expires_at = NULL, next_step = 0, turn = 0 WHERE key = ?`,
      atMs,
      key,
    )
    return changes + kept.changes
  }

  #update({ key, id, fence }: LeaseToken, set: string, ...values: readonly SqlValue[]): void {
    const sql = `UPDATE sessions SET ${set} WHERE key = ? AND fence = ? AND deleted_at IS NULL`
    const { changes } = this.database.run(sql, ...values, key, fence)
    if (changes === 1) return
    if (this.byKey(key) === undefined) {
      throw new SavestateError('SESSION_DELETED', `The session ${JSON.stringify(id)} was deleted`, {
        hint: 'Open it with `store.session` to start again.',
      })
    }
    throw new SavestateError(
      'SESSION_FENCED',
      `Another process has taken over the session ${JSON.stringify(id)}`,
      { hint: 'This process can no longer write to it. Nothing was written.' },
    )
  }
}
