// Texts by key: a front end or an agent's hook leaves them for its next process.
import { LedgerTable } from '../ledger-table.js'

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
