// The store's own records: failed operations, notes of front ends and hooks, and one row about the store itself.
import { insertRow, number, optional } from '../rows.js'
import { LedgerTable } from '../ledger-table.js'

export const STORE_TABLES = `
  -- Imported checkpoints by origin, so that a second import finds them.
  CREATE TABLE file.imports (
    origin TEXT PRIMARY KEY,
    checkpoint TEXT NOT NULL,
    at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE file.failures (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    operation TEXT NOT NULL,
    project TEXT,
    code TEXT NOT NULL,
    message TEXT NOT NULL
  ) STRICT;

  CREATE TABLE file.notes (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL,
    -- NULL: does not expire.
    expires_at INTEGER
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE file.store (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    pruned_at INTEGER,
    prune_claimed_at INTEGER,
    auto_prune TEXT,
    above_limit TEXT,
    has_lost_rows INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  INSERT INTO store (only) VALUES (1);
`

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

/** The newest operations that failed. */
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

/** Texts by key: a front end or an agent's hook leaves them for its next process. */
export class Notes extends LedgerTable {
  get(key: string): string | undefined {
    const row = this.database.get('SELECT value FROM notes WHERE key = ?', key)
    return row === undefined ? undefined : String(row['value'])
  }

  /** Sorted. */
  keys(prefix: string): readonly string[] {
    const sql = 'SELECT key FROM notes WHERE substr(key, 1, ?) = ? ORDER BY key'
    return this.database.all(sql, prefix.length, prefix).map((row) => String(row['key']))
  }

  /** `expiresAtMs` null: the note does not expire. */
  set(key: string, value: string, expiresAtMs: number | null): void {
    const sql = 'INSERT OR REPLACE INTO notes (key, value, expires_at) VALUES (?, ?, ?)'
    this.database.run(sql, key, value, expiresAtMs)
  }

  remove(key: string): void {
    this.database.run('DELETE FROM notes WHERE key = ?', key)
  }

  removeAll(prefix: string): void {
    this.database.run('DELETE FROM notes WHERE substr(key, 1, ?) = ?', prefix.length, prefix)
  }

  removeExpired(nowMs: number): void {
    this.database.run('DELETE FROM notes WHERE expires_at < ?', nowMs)
  }
}

/** Times are in milliseconds; the others are JSON. */
type Values = {
  readonly pruned_at: number
  /** When a process last took on an automatic prune. */
  readonly prune_claimed_at: number
  /** Totals of the automatic prunes since the last report to the user. */
  readonly auto_prune: string
  /** The projects that keep the store above its limit. */
  readonly above_limit: string
}

/** The store's row about itself: when it was pruned, and the results of prunes and repairs. */
export class StoreRecord extends LedgerTable {
  time(column: 'pruned_at' | 'prune_claimed_at'): number | undefined {
    const value = this.database.get(`SELECT ${column} FROM store`)?.[column]
    return typeof value === 'number' ? value : undefined
  }

  json(column: 'auto_prune' | 'above_limit'): string | undefined {
    return optional(this.database.get(`SELECT ${column} FROM store`) ?? {}, column) ?? undefined
  }

  set<Column extends keyof Values>(column: Column, value: Values[Column]): void {
    this.database.run(`UPDATE store SET ${column} = ?`, value)
  }

  /** Whether a repair lost rows. If so, refs may lead to checkpoints that have no row. */
  get hasLostRows(): boolean {
    return this.database.get('SELECT 1 FROM store WHERE has_lost_rows') !== undefined
  }

  setLostRows(hasLostRows: boolean): void {
    this.database.run('UPDATE store SET has_lost_rows = ?', hasLostRows ? 1 : 0)
  }
}
