// What the agent set out to do, written before it is done, and what came of it.
import {
  type ClassRegistry,
  decodeValue,
  encodeValue,
  invariant,
  type SessionKey,
  type ToolCall,
  type ToolStatus,
} from '../model/index.js'
import type { Database, SqlRow } from '../system/index.js'
import { number, optional, text } from './rows.js'

export type NewToolCall = Pick<ToolCall, 'id' | 'name' | 'args' | 'idempotencyKey' | 'step'> & {
  readonly startedAtMs: number
}

export class ToolJournal {
  readonly #database: Database
  readonly #classes: ClassRegistry | undefined

  constructor(database: Database, classes: ClassRegistry | undefined) {
    this.#database = database
    this.#classes = classes
  }

  /** Inside a transaction, as every write here. */
  start(session: SessionKey, call: NewToolCall): void {
    this.#database.run(
      `INSERT INTO tool_calls (session, id, name, args, idempotency_key, status, step, started_at)
       VALUES (?, ?, ?, ?, ?, 'started', ?, ?)`,
      session,
      call.id,
      call.name,
      this.#encode(call.args, `args of the tool call ${call.id}`),
      call.idempotencyKey,
      call.step,
      call.startedAtMs,
    )
  }

  /** The outcome, in place of what was streamed on the way. */
  end(
    session: SessionKey,
    call: {
      readonly id: string
      readonly status: ToolStatus
      readonly outcome: unknown
      readonly atMs: number
    },
  ): void {
    this.#database.run(
      'UPDATE tool_calls SET status = ?, outcome = ?, ended_at = ? WHERE session = ? AND id = ? AND reverted = 0',
      call.status,
      this.#encode(call.outcome, `outcome of the tool call ${call.id}`),
      call.atMs,
      session,
      call.id,
    )
    this.#database.run(
      `DELETE FROM partials WHERE call =
         (SELECT seq FROM tool_calls WHERE session = ? AND id = ? AND reverted = 0)`,
      session,
      call.id,
    )
  }

  /** A call that was in flight is to be made again. */
  restart(session: SessionKey, { id, atMs }: { readonly id: string; readonly atMs: number }): void {
    this.#database.run(
      `UPDATE tool_calls SET status = 'started', outcome = NULL, ended_at = NULL, started_at = ?
       WHERE session = ? AND id = ? AND reverted = 0`,
      atMs,
      session,
      id,
    )
  }

  get(session: SessionKey, id: string): ToolCall | undefined {
    const row = this.#database.get(
      'SELECT * FROM tool_calls WHERE session = ? AND id = ? AND reverted = 0',
      session,
      id,
    )
    return row === undefined ? undefined : this.#toolCallOf(row)
  }

  /** Oldest first. */
  list(
    session: SessionKey,
    { status, limit }: { readonly status?: ToolStatus; readonly limit?: number } = {},
  ): ToolCall[] {
    const condition = status === undefined ? '' : 'AND status = ?'
    return this.#database
      .all(
        `SELECT * FROM (SELECT * FROM tool_calls WHERE session = ? AND reverted = 0 ${condition}
         ORDER BY seq DESC LIMIT ?) ORDER BY seq`,
        session,
        ...(status === undefined ? [] : [status]),
        limit ?? -1,
      )
      .map((row) => this.#toolCallOf(row))
  }

  addPartial(
    session: SessionKey,
    { id, value }: { readonly id: string; readonly value: unknown },
  ): void {
    this.#database.run(
      `INSERT INTO partials (call, number, value)
       SELECT seq, (SELECT count(*) FROM partials WHERE call = seq), ? FROM tool_calls
       WHERE session = ? AND id = ? AND reverted = 0`,
      this.#encode(value, `partial result of the tool call ${id}`),
      session,
      id,
    )
  }

  /** What a call has streamed, in order. */
  partials(session: SessionKey, id: string): unknown[] {
    return this.#database
      .all(
        `SELECT value FROM partials WHERE call =
           (SELECT seq FROM tool_calls WHERE session = ? AND id = ? AND reverted = 0) ORDER BY number`,
        session,
        id,
      )
      .map((row) => this.#decode(text(row, 'value')))
  }

  /** The state goes back to a step: calls begun from there on may be made again. */
  revertFrom(session: SessionKey, step: number): void {
    this.#database.run(
      'UPDATE tool_calls SET reverted = 1 WHERE session = ? AND step >= ?',
      session,
      step,
    )
  }

  /** A fork knows the calls that were confirmed before its point. */
  copyTo(session: SessionKey, from: { readonly session: SessionKey; readonly step: number }): void {
    this.#database.run(
      `INSERT INTO tool_calls (session, id, name, args, idempotency_key, status, outcome, step, started_at, ended_at)
       SELECT ?, id, name, args, idempotency_key, status, outcome, step, started_at, ended_at FROM tool_calls
       WHERE session = ? AND step < ? AND reverted = 0 AND status <> 'started' ORDER BY seq`,
      session,
      from.session,
      from.step,
    )
  }

  #toolCallOf(row: SqlRow): ToolCall {
    const status = text(row, 'status')
    invariant(isToolStatus(status), 'a tool call has a known status')
    const stored = optional(row, 'outcome')
    const outcome = stored === null ? undefined : this.#decode(stored)
    return {
      id: text(row, 'id'),
      name: text(row, 'name'),
      args: this.#decode(text(row, 'args')),
      idempotencyKey: text(row, 'idempotency_key'),
      status,
      result: status === 'failed' ? undefined : outcome,
      error: status === 'failed' ? outcome : undefined,
      step: number(row, 'step'),
      startedAtMs: number(row, 'started_at'),
      endedAtMs: row['ended_at'] === null ? null : number(row, 'ended_at'),
    }
  }

  #encode(value: unknown, what: string): string {
    return encodeValue(value, { path: [what], ...this.#registry() }).text
  }

  #decode(stored: string): unknown {
    return decodeValue(stored, this.#registry()).value
  }

  #registry(): { classes?: ClassRegistry } {
    return this.#classes === undefined ? {} : { classes: this.#classes }
  }
}

function isToolStatus(text: string): text is ToolStatus {
  return ['started', 'confirmed', 'failed', 'skipped'].includes(text)
}
