// Decides which tool calls count as made, now and at each checkpoint. A row counts at the checkpoints from `step` up to the one before
// `reverted`, or up to now if that is 0. A call that an undo restores gets a new row. So the calls of a checkpoint are known whatever
// happened after it, and whichever checkpoints are dropped.
import type { SessionKey } from '../../model/index.js'
import type { Database } from '../../system/index.js'
import { number } from '../rows.js'

/** The calls that a state contains: those that started before a step. */
export type KnownCalls = {
  readonly beforeStep: number
  /** True if that step is a rewind to undo. Then the calls that it reverted, and that no checkpoint has, count too. */
  readonly isTakenBack: boolean
}

/** Inside a transaction. */
export function goToCalls(
  database: Database,
  session: SessionKey,
  to: KnownCalls & { readonly step: number },
): void {
  const known = knownCalls(database, session, to)
  database.run(
    `UPDATE tool_calls SET reverted = ?
     WHERE session = ? AND reverted = 0 AND seq NOT IN (SELECT value FROM json_each(?))`,
    to.step,
    session,
    known,
  )
  copyCalls(database, known, { session, step: to.step, condition: 'reverted <> 0' })
}

/** Inside a transaction. Running calls are not copied: only the original session learns of their end. */
export function copyCallsTo(
  database: Database,
  fork: SessionKey,
  from: { readonly session: SessionKey; readonly step: number },
): void {
  const to = { beforeStep: from.step + 1, isTakenBack: false }
  const known = knownCalls(database, from.session, to)
  copyCalls(database, known, { session: fork, step: 0, condition: `status <> 'started'` })
}

/** The newest row of each call, as a JSON list of row numbers. The newest row has the outcome, even if it came later. */
function knownCalls(
  database: Database,
  session: SessionKey,
  { beforeStep, isTakenBack }: KnownCalls,
): string {
  const rows = database.all(
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

function copyCalls(
  database: Database,
  rows: string,
  to: { readonly session: SessionKey; readonly step: number; readonly condition: string },
): void {
  database.run(
    `INSERT INTO tool_calls (session, id, name, args, idempotency_key, status, outcome, step, started_at, ended_at)
     SELECT ?, id, name, args, idempotency_key, status, outcome, ?, started_at, ended_at
     FROM (SELECT key AS position, value AS row FROM json_each(?)) JOIN tool_calls ON seq = row
     WHERE ${to.condition} ORDER BY position`,
    to.session,
    to.step,
    rows,
  )
}
