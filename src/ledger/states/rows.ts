// Access to the rows of states.
import type { Database } from '../../system/index.js'
import { number } from '../rows.js'
import type { SealingKey, Vault } from '../encryption/index.js'

export type Rows = {
  readonly database: Database
  readonly vault: Vault
  /** What new rows are sealed with; undefined: they are as they are, or nothing is written. */
  readonly key: SealingKey | undefined
}

/**
 * The id that the next row of the table gets, inside the transaction that adds it. A sealed value is bound to its
 * id, so that has to be known before.
 */
export function nextId(database: Database, table: 'elements' | 'nodes' | 'states'): number {
  const row = database.get(
    'SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = ?), 0) + 1 AS id',
    table,
  )
  return number(row ?? {}, 'id')
}
