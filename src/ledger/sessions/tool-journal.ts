// The tool journal: a call is recorded before it runs, and its outcome afterwards.
import {
  decodeValue,
  encodeValue,
  invariant,
  type SessionKey,
  type ToolCall,
  type ToolStatus,
} from '../../model/index.js'
import type { SqlRow } from '../../system/index.js'
import { CallHistory } from './known-calls.js'
import { insertRow, number, text } from '../rows.js'
import { openColumn, sealColumn, type SealedColumn } from '../encryption/index.js'

export type NewToolCall = Pick<ToolCall, 'id' | 'name' | 'args' | 'idempotencyKey' | 'step'> & {
  readonly startedAtMs: number
}

/** One attempt of a call. Another attempt has the same id and another start time. */
type Attempt = Pick<ToolCall, 'id' | 'startedAtMs'>

export type ToolOutline = Pick<
  ToolCall,
  'id' | 'name' | 'status' | 'idempotencyKey' | 'step' | 'startedAtMs'
>

export class ToolJournal extends CallHistory {
  /** Inside a transaction, like every method that writes. */
  start(session: SessionKey, call: NewToolCall): void {
    const { id, name, step, idempotencyKey: idempotency_key, startedAtMs: started_at } = call
    const args = this.#encode(call.args, `args of the tool call ${id}`)
    const row = { session, id, name, args, idempotency_key, step, status: 'started', started_at }
    const sealed = sealColumn(this.vault, 'tool_calls.args', row)
    insertRow(this.database, 'tool_calls', { ...row, args: sealed })
  }

  /** Records the outcome and removes the partial results. An outcome that was recorded earlier stays. */
  end(
    session: SessionKey,
    call: Pick<ToolCall, 'id' | 'idempotencyKey' | 'startedAtMs'> & {
      readonly status: ToolStatus
      readonly outcome: unknown
      readonly atMs: number
    },
  ): void {
    const seq = this.#seqOf(session, call)
    if (seq === undefined) return
    const outcome = sealColumn(this.vault, 'tool_calls.outcome', {
      id: call.id,
      idempotency_key: call.idempotencyKey,
      outcome: this.#encode(call.outcome, `outcome of the tool call ${call.id}`),
    })
    const sql = `UPDATE tool_calls SET status = ?, outcome = ?, ended_at = ? WHERE seq = ? AND status = 'started'`
    this.database.run(sql, call.status, outcome, call.atMs, seq)
    this.database.run('DELETE FROM partials WHERE call = ?', seq)
  }

  /** Starts a new attempt of a call that was in flight, without the partial results of the old one. */
  restart(session: SessionKey, { id, atMs }: { readonly id: string; readonly atMs: number }): void {
    this.database.run(
      `DELETE FROM partials WHERE call IN
         (SELECT seq FROM tool_calls WHERE session = ? AND id = ? AND reverted = 0)`,
      session,
      id,
    )
    this.database.run(
      `UPDATE tool_calls SET status = 'started', outcome = NULL, ended_at = NULL, started_at = ?
       WHERE session = ? AND id = ? AND reverted = 0`,
      atMs,
      session,
      id,
    )
  }

  get(session: SessionKey, id: string): ToolCall | undefined {
    const sql = 'SELECT * FROM tool_calls WHERE session = ? AND id = ? AND reverted = 0'
    const row = this.database.get(sql, session, id)
    return row === undefined ? undefined : this.#toToolCall(row)
  }

  /** Oldest first. */
  list(
    session: SessionKey,
    { status, limit }: { readonly status?: ToolStatus; readonly limit?: number } = {},
  ): ToolCall[] {
    const condition = status === undefined ? '' : 'AND status = ?'
    return this.database
      .all(
        `SELECT * FROM (SELECT * FROM tool_calls WHERE session = ? AND reverted = 0 ${condition}
         ORDER BY seq DESC LIMIT ?) ORDER BY seq`,
        session,
        ...(status === undefined ? [] : [status]),
        limit ?? -1,
      )
      .map((row) => this.#toToolCall(row))
  }

  /** The newest calls, oldest first, without arguments and outcomes. Needs no key. */
  outlines(
    session: SessionKey,
    { upToStep, limit }: { readonly upToStep: number; readonly limit: number },
  ): ToolOutline[] {
    return this.database
      .all(
        `SELECT id, name, status, idempotency_key, step, started_at FROM tool_calls
         WHERE session = ?1 AND step <= ?2 AND (reverted = 0 OR reverted > ?2) ORDER BY seq DESC LIMIT ?3`,
        session,
        upToStep,
        limit,
      )
      .map(toOutline)
      .reverse()
  }

  /** Ignores values that arrive after the end of the call. */
  addPartial(session: SessionKey, { value, ...call }: Attempt & { readonly value: unknown }): void {
    const seq = this.#seqOf(session, call)
    const row = this.database.get(
      `SELECT (SELECT count(*) FROM partials WHERE call = seq) AS count FROM tool_calls
       WHERE seq = ? AND status = 'started'`,
      seq ?? null,
    )
    if (seq === undefined || row === undefined) return
    const encoded = this.#encode(value, `partial result of the tool call ${call.id}`)
    const partial = { call: seq, number: number(row, 'count'), value: encoded }
    const sealed = sealColumn(this.vault, 'partials.value', partial)
    insertRow(this.database, 'partials', { ...partial, value: sealed })
  }

  /** The partial results of a call in order, including those from before a rewind that was undone. */
  partials(session: SessionKey, { id, startedAtMs }: Attempt): unknown[] {
    return this.database
      .all(
        `SELECT * FROM partials WHERE call IN
           (SELECT seq FROM tool_calls WHERE session = ? AND id = ? AND started_at = ?) ORDER BY call, number`,
        session,
        id,
        startedAtMs,
      )
      .map((row) => this.#decode('partials.value', row))
  }

  /** The row that counts. If a rewind reverted the call while it ran, its newest row: an undo may restore it. */
  #seqOf(session: SessionKey, { id, startedAtMs }: Attempt): number | undefined {
    const ofCall = 'SELECT seq FROM tool_calls WHERE session = ? AND id = ? AND started_at = ?'
    const row =
      this.database.get(`${ofCall} AND reverted = 0`, session, id, startedAtMs) ??
      this.database.get(`${ofCall} ORDER BY seq DESC LIMIT 1`, session, id, startedAtMs)
    return row === undefined ? undefined : number(row, 'seq')
  }

  #toToolCall(row: SqlRow): ToolCall {
    const outline = toOutline(row)
    const { status } = outline
    const outcome = row['outcome'] === null ? undefined : this.#decode('tool_calls.outcome', row)
    return {
      ...outline,
      args: this.#decode('tool_calls.args', row),
      result: status === 'failed' ? undefined : outcome,
      error: status === 'failed' ? outcome : undefined,
      endedAtMs: row['ended_at'] === null ? null : number(row, 'ended_at'),
    }
  }

  #encode(value: unknown, what: string): string {
    return encodeValue(value, { path: [what], classes: this.classes }).text
  }

  #decode(column: SealedColumn, row: SqlRow): unknown {
    return decodeValue(openColumn(this.vault, column, row), { classes: this.classes })
  }
}

function toOutline(row: SqlRow): ToolOutline {
  const status = text(row, 'status')
  invariant(isToolStatus(status), 'a tool call has a known status')
  return {
    id: text(row, 'id'),
    name: text(row, 'name'),
    status,
    idempotencyKey: text(row, 'idempotency_key'),
    step: number(row, 'step'),
    startedAtMs: number(row, 'started_at'),
  }
}

function isToolStatus(text: string): text is ToolStatus {
  return ['started', 'confirmed', 'failed', 'skipped'].includes(text)
}
