// Notes of the store about itself.
import type { CheckpointId } from '../model/index.js'
import type { Database } from '../system/index.js'
import { number, optional } from './rows.js'

export type Failure = {
  readonly atMs: number
  readonly operation: string
  /** The path of the project, if it was about one. */
  readonly project: string | null
  readonly code: string
  readonly message: string
}

const MAX_FAILURES = 100

export class Care {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  /** The checkpoint that something from elsewhere has become. */
  importedAs(origin: string): string | undefined {
    const row = this.#database.get('SELECT checkpoint FROM imports WHERE origin = ?', origin)
    return row === undefined ? undefined : String(row['checkpoint'])
  }

  /** Part of the transaction that adds the checkpoint. */
  noteImport(origin: string, checkpoint: CheckpointId, atMs: number): void {
    this.#database.run(
      'INSERT INTO imports (origin, checkpoint, at) VALUES (?, ?, ?)',
      origin,
      checkpoint,
      atMs,
    )
  }

  addFailure({ atMs, operation, project, code, message }: Failure): void {
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
    })
  }

  /** Newest first. */
  failures(limit: number): Failure[] {
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

  fact(key: string): string | undefined {
    const row = this.#database.get('SELECT value FROM facts WHERE key = ?', key)
    return row === undefined ? undefined : String(row['value'])
  }

  setFact(key: string, value: string): void {
    this.#database.run('INSERT OR REPLACE INTO facts (key, value) VALUES (?, ?)', key, value)
  }
}
