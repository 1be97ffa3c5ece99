// The newest operations that failed.
import { insertRow, number, optional } from '../rows.js'
import { LedgerTable } from '../ledger-table.js'

export type Failure = {
  readonly atMs: number
  readonly operation: string
  /** The path of the project, if it had one. */
  readonly project: string | null
  readonly code: string
  readonly message: string
}

const MAX_FAILURES = 100
const WAIT_MS = 500

export class Failures extends LedgerTable {
  /** Throws STORE_BUSY after a short wait: the failure may be a busy ledger, which the caller has waited for already. */
  add({ atMs: at, operation, project, code, message }: Failure): void {
    const sql = 'DELETE FROM failures WHERE seq <= (SELECT max(seq) FROM failures) - ?'
    this.database.withBusyTimeout(WAIT_MS, () =>
      this.database.transaction(() => {
        insertRow(this.database, 'failures', { at, operation, project, code, message })
        this.database.run(sql, MAX_FAILURES)
      }),
    )
  }

  /** Newest first. */
  list(limit: number): Failure[] {
    return this.database
      .all('SELECT * FROM failures ORDER BY seq DESC LIMIT ?', limit)
      .map((row) => ({
        atMs: number(row, 'at'),
        operation: String(row['operation']),
        project: optional(row, 'project'),
        code: String(row['code']),
        message: String(row['message']),
      }))
  }
}
