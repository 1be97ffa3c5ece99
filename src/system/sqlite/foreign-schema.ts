// Refuses a database whose schema runs something: a trigger, a view or a virtual table. Ours has none, so each of them was
// planted, and would run inside our own statements (FTS5 had memory faults that a crafted file reaches).
import { SavestateError } from '../../model/index.js'
import type { Connection } from './sqlite-driver.js'

/**
 * Judged by the text, which is what SQLite parses. SQLite writes the beginning of each text itself, always in these
 * words; the tables and indexes that it makes for itself have no text.
 */
const FOREIGN = `NOT (sql IS NULL OR sql GLOB 'CREATE TABLE *' OR sql GLOB 'CREATE INDEX *'
  OR sql GLOB 'CREATE UNIQUE INDEX *')`

/** Throws STORE_DAMAGED. Reads the schema only, so nothing of it runs. */
export function refuseForeignSchema(connection: Connection, path: string): void {
  const sql = `SELECT type, name FROM file.sqlite_schema WHERE ${FOREIGN} LIMIT 1`
  const found = connection.prepare(sql).get()
  if (found === undefined) return
  throw new SavestateError(
    'STORE_DAMAGED',
    `${path} has a ${String(found['type'])} called ${String(found['name'])}, which Savestate did not create`,
    {
      hint: 'Do not use a store from someone you do not trust. `savestate repair` copies the rows into a new ledger without it.',
    },
  )
}

/** For a copy that is about to be read by a repair; `writable_schema` is on. */
export function removeForeignSchema(connection: Connection): void {
  connection.exec(`DELETE FROM file.sqlite_schema WHERE ${FOREIGN}`)
}
