// The newest operations that failed.
import type { Database } from '../../system/index.js'
import { number, optional } from '../rows.js'

export type Failure = {
  readonly atMs: number
  readonly operation: string
  /** The path of the project, if it was about one. */
  readonly project: string | null
  readonly code: string
  readonly message: string
}

const MAX_FAILURES = 100
const WAIT_MS = 500

export class Failures {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  /** Throws STORE_BUSY soon: the failure may be that the ledger was busy, which the caller has waited for already. */
  add({ atMs, operation, project, code, message }: Failure): void {
    this.#database.waitingAtMost(WAIT_MS, () =>
      this.#database.transaction(() => {
        this.#database.run(
          'INSERT INTO failures (at, operation, project, code, message) VALUES (?, ?, ?, ?, ?)',
          atMs,
          operation,
          project,
          code,
          message,
        )
        this.#database.run(
          'DELETE FROM failures WHERE seq <= (SELECT max(seq) FROM failures) - ?',
          MAX_FAILURES,
        )
      }),
    )
  }

  /** Newest first. */
  list(limit: number): Failure[] {
    return this.#database
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
