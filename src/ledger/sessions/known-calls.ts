// Decides which tool calls count as made, now and at each checkpoint. A row counts at the checkpoints from `step` up to the one before
// `reverted`, or up to now if that is 0. A call that an undo restores gets a new row. So the calls of a checkpoint are known whatever
// happened after it, and whichever checkpoints are dropped.
import type { SessionKey } from '../../model/index.js'
import { SealedTable } from '../ledger-table.js'
import { number } from '../rows.js'

/** The calls that a state contains: those that started before a step. */
type KnownCalls = {
  readonly beforeStep: number
  /** True if that step is a rewind to undo. Then the calls that it reverted, and that no checkpoint has, count too. */
  readonly isTakenBack: boolean
}

export abstract class CallHistory extends SealedTable {
  /** Inside a transaction. The checkpoint `step` restored another state. From there on, exactly the calls of that state count. */
  goTo(session: SessionKey, to: KnownCalls & { readonly step: number }): void {
    const known = this.#known(session, to)
    this.database.run(
      `UPDATE tool_calls SET reverted = ?
       WHERE session = ? AND reverted = 0 AND seq NOT IN (SELECT value FROM json_each(?))`,
      to.step,
      session,
      known,
    )
    this.#copy(known, { session, step: to.step, condition: 'reverted <> 0' })
  }

  /**
   * Inside a transaction. Gives a fork the finished calls of the checkpoint that it starts from. Running calls are not copied: only
   * the original session learns of their end.
   */
  copyTo(fork: SessionKey, from: { readonly session: SessionKey; readonly step: number }): void {
    const known = this.#known(from.session, { beforeStep: from.step + 1, isTakenBack: false })
    this.#copy(known, { session: fork, step: 0, condition: `status <> 'started'` })
  }

  /** Whether the checkpoint `step` reverted calls that no checkpoint has. */
  hasRevertedCallsAt(session: SessionKey, { step }: { readonly step: number }): boolean {
    const sql = 'SELECT 1 FROM tool_calls WHERE session = ?1 AND step = ?2 AND reverted = ?2'
    return this.database.get(sql, session, step) !== undefined
  }

  /** The newest row of each call, as a JSON list of row numbers. The newest row has the outcome, even if it came later. */
  #known(session: SessionKey, { beforeStep, isTakenBack }: KnownCalls): string {
    const rows = this.database.all(
      `SELECT max(newest.seq) AS seq FROM tool_calls AS known JOIN tool_calls AS newest
         ON newest.session = known.session AND newest.id = known.id AND newest.started_at = known.started_at
       WHERE known.session = ?1 AND (
         (known.step < ?2 AND (known.reverted = 0 OR known.reverted >= ?2))
         OR (?3 AND known.step = ?2 AND known.reverted = ?2))
       GROUP BY known.id ORDER BY min(known.seq)`,
      session,
      beforeStep,
      isTakenBack ? 1 : 0,
    )
    return JSON.stringify(rows.map((row) => number(row, 'seq')))
  }

  #copy(
    rows: string,
    to: { readonly session: SessionKey; readonly step: number; readonly condition: string },
  ): void {
    this.database.run(
      `INSERT INTO tool_calls (session, id, name, args, idempotency_key, status, outcome, step, started_at, ended_at)
       SELECT ?, id, name, args, idempotency_key, status, outcome, ?, started_at, ended_at
       FROM (SELECT key AS position, value AS row FROM json_each(?)) JOIN tool_calls ON seq = row
       WHERE ${to.condition} ORDER BY position`,
      to.session,
      to.step,
      rows,
    )
  }
}
