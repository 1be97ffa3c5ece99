// The database and keys that all code of this folder reads and writes with.
import type { Database } from '../../system/index.js'
import { number } from '../rows.js'
import type { SealingKey, Vault } from '../encryption/index.js'

export type Rows = {
  readonly database: Database
  readonly vault: Vault
  /** The key to seal new rows with; undefined if the store is not encrypted, or for a read. */
  readonly key: SealingKey | undefined
}

/**
 * Inside the transaction that adds a row: the id that the row will get. A sealed value is bound to its id, so the id must be known
 * before the insert.
 */
export function nextId(
  database: Database,
  table: 'elements' | 'nodes' | 'states' | 'tool_calls',
): number {
  const sql = 'SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = ?), 0) + 1 AS id'
  const row = database.get(sql, table)
  return number(row ?? {}, 'id')
}
