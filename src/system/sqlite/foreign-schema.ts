// Refuses a database whose schema can run code: a trigger, a view or a virtual table. Our schema has none, so any of them
// was planted and would run inside our own statements. (FTS5 had memory bugs that a crafted file can trigger.)
import { foreignSchema } from '../../model/index.js'
import type { Connection } from './sqlite-driver.js'

/**
 * Checks the SQL text, which is what SQLite parses. SQLite itself writes the beginning of each text, always in these words.
 * Its internal tables and indexes have no text.
 */
const FOREIGN = `NOT (sql IS NULL OR sql GLOB 'CREATE TABLE *' OR sql GLOB 'CREATE INDEX *'
  OR sql GLOB 'CREATE UNIQUE INDEX *')`

/** Only reads the schema, so nothing in it runs. */
export function refuseForeignSchema(connection: Connection, path: string): void {
  const sql = `SELECT type, name FROM file.sqlite_schema WHERE ${FOREIGN} LIMIT 1`
  const found = connection.prepare(sql).get()
  if (found === undefined) return
  throw foreignSchema(path, `a ${String(found['type'])} called ${String(found['name'])}`)
}

/** For a copy that a repair is about to read; `writable_schema` is on. */
export function removeForeignSchema(connection: Connection): void {
  connection.exec(`DELETE FROM file.sqlite_schema WHERE ${FOREIGN}`)
}
