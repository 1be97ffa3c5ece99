// What the agent set out to do, written before it is done, and what came of it.
import {
  type ClassRegistry,
  decodeValue,
  encodeValue,
  invariant,
  type SessionKey,
  type ToolCall,
  type ToolStatus,
} from '../../model/index.js'
import type { Database, SqlRow } from '../../system/index.js'
import { copyCallsTo, goToCalls, type KnownCalls } from './known-calls.js'
import { number, optional, text } from '../rows.js'
import {
  openText,
  partialContext,
  type SealContext,
  sealText,
  toolContext,
  type Vault,
} from '../encryption/index.js'

export type NewToolCall = Pick<ToolCall, 'id' | 'name' | 'args' | 'idempotencyKey' | 'step'> & {
  readonly startedAtMs: number
}

/** One call; another of the same id was begun at another time. */
type Attempt = Pick<ToolCall, 'id' | 'startedAtMs'>

export type ToolOutline = Pick<
  ToolCall,
  'id' | 'name' | 'status' | 'idempotencyKey' | 'step' | 'startedAtMs'
>

export class ToolJournal {
  readonly #database: Database
  readonly #classes: ClassRegistry | undefined
  readonly #vault: Vault

  constructor(
    database: Database,
    options: { readonly classes: ClassRegistry | undefined; readonly vault: Vault },
  ) {
    this.#database = database
    this.#classes = options.classes
    this.#vault = options.vault
  }

  /** Inside a transaction, as every write here. */
  start(session: SessionKey, call: NewToolCall): void {
    this.#database.run(
      `INSERT INTO tool_calls (session, id, name, args, idempotency_key, status, step, started_at)
       VALUES (?, ?, ?, ?, ?, 'started', ?, ?)`,
      session,
      call.id,
      call.name,
      this.#encode(call.args, {
        what: `args of the tool call ${call.id}`,
        context: toolContext('args', call),
      }),
      call.idempotencyKey,
      call.step,
      call.startedAtMs,
    )
  }

  /** The outcome, in context of what was streamed on the way. One that was decided meanwhile stays. */
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
    this.#database.run(
      `UPDATE tool_calls SET status = ?, outcome = ?, ended_at = ? WHERE seq = ? AND status = 'started'`,
      call.status,
      this.#encode(call.outcome, {
        what: `outcome of the tool call ${call.id}`,
        context: toolContext('outcome', call),
      }),
      call.atMs,
      seq,
    )
    this.#database.run('DELETE FROM partials WHERE call = ?', seq)
  }

  /** A call that was in flight is to be made again. What it has streamed is not of the new attempt. */
  restart(session: SessionKey, { id, atMs }: { readonly id: string; readonly atMs: number }): void {
    this.#database.run(
      `DELETE FROM partials WHERE call IN
         (SELECT seq FROM tool_calls WHERE session = ? AND id = ? AND reverted = 0)`,
      session,
      id,
    )
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

  /** The newest, oldest first, without what they were given and gave: for that no key is needed. */
  outlines(
    session: SessionKey,
    { upToStep, limit }: { readonly upToStep: number; readonly limit: number },
  ): ToolOutline[] {
    return this.#database
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

  /** Nothing of a call whose end is known: who goes on streaming then is late. */
  addPartial(session: SessionKey, { value, ...call }: Attempt & { readonly value: unknown }): void {
    const seq = this.#seqOf(session, call)
    const row = this.#database.get(
      `SELECT (SELECT count(*) FROM partials WHERE call = seq) AS count FROM tool_calls
       WHERE seq = ? AND status = 'started'`,
      seq ?? null,
    )
    if (seq === undefined || row === undefined) return
    const count = number(row, 'count')
    this.#database.run(
      'INSERT INTO partials (call, number, value) VALUES (?, ?, ?)',
      seq,
      count,
      this.#encode(value, {
        what: `partial result of the tool call ${call.id}`,
        context: partialContext(seq, count),
      }),
    )
  }

  /** What a call has streamed, in order; also before it was taken back and came back. */
  partials(session: SessionKey, { id, startedAtMs }: Attempt): unknown[] {
    return this.#database
      .all(
        `SELECT * FROM partials WHERE call IN
           (SELECT seq FROM tool_calls WHERE session = ? AND id = ? AND started_at = ?) ORDER BY call, number`,
        session,
        id,
        startedAtMs,
      )
      .map((row) =>
        this.#decode(
          text(row, 'value'),
          partialContext(number(row, 'call'), number(row, 'number')),
        ),
      )
  }

  /** The checkpoint `step` has another state: what that knows of counts from there on, and nothing else. */
  goTo(session: SessionKey, to: KnownCalls & { readonly step: number }): void {
    goToCalls(this.#database, session, to)
  }

  /** Whether the checkpoint `step` took calls back that no checkpoint has. */
  tookBackAt(session: SessionKey, { step }: { readonly step: number }): boolean {
    const sql = 'SELECT 1 FROM tool_calls WHERE session = ?1 AND step = ?2 AND reverted = ?2'
    return this.#database.get(sql, session, step) !== undefined
  }

  /** A fork knows the calls that its origin did. */
  copyTo(fork: SessionKey, from: { readonly session: SessionKey; readonly step: number }): void {
    copyCallsTo(this.#database, fork, from)
  }

  /** The row that counts. If the call was taken back while it ran, the last that did: it may come back. */
  #seqOf(session: SessionKey, { id, startedAtMs }: Attempt): number | undefined {
    const ofCall = 'SELECT seq FROM tool_calls WHERE session = ? AND id = ? AND started_at = ?'
    const row =
      this.#database.get(`${ofCall} AND reverted = 0`, session, id, startedAtMs) ??
      this.#database.get(`${ofCall} ORDER BY seq DESC LIMIT 1`, session, id, startedAtMs)
    return row === undefined ? undefined : number(row, 'seq')
  }

  #toolCallOf(row: SqlRow): ToolCall {
    const outline = toOutline(row)
    const { status } = outline
    const stored = optional(row, 'outcome')
    const outcome =
      stored === null ? undefined : this.#decode(stored, toolContext('outcome', outline))
    return {
      ...outline,
      args: this.#decode(text(row, 'args'), toolContext('args', outline)),
      result: status === 'failed' ? undefined : outcome,
      error: status === 'failed' ? outcome : undefined,
      endedAtMs: row['ended_at'] === null ? null : number(row, 'ended_at'),
    }
  }

  #encode(
    value: unknown,
    { what, context }: { readonly what: string; readonly context: SealContext },
  ): string {
    const encoded = encodeValue(value, { path: [what], ...this.#registry() })
    return sealText(this.#vault, encoded.text, context)
  }

  #decode(stored: string, context: SealContext): unknown {
    return decodeValue(openText(this.#vault, stored, context), this.#registry())
  }

  #registry(): { classes?: ClassRegistry } {
    return this.#classes === undefined ? {} : { classes: this.#classes }
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
