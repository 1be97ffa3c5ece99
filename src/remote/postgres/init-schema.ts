// Creates the tables, and reads the row of `format`.
import type { DriverFormat } from '../driver.js'
import { bytesOrNullIn, type Database, numberIn, textIn } from './database.js'
import { isUndefinedTable, noTables } from './postgres-errors.js'
import { schemaStatements } from './schema-sql.js'

/** CREATE … IF NOT EXISTS fails if two transactions create the same thing. A number that no other program is likely to use. */
const INIT_LOCK = 'SELECT pg_advisory_xact_lock(8315161562470917481)'

export async function readFormat(db: Database): Promise<DriverFormat> {
  const format = await findFormat(db)
  if (format === 'no tables' || format === 'no row') throw noTables(db.context)
  return format
}

/** Does nothing if the tables exist. An administrator may have created them: then only the row of `format` is missing. */
export async function initSchema(db: Database, format: DriverFormat): Promise<DriverFormat> {
  const found = await findFormat(db)
  if (found !== 'no tables' && found !== 'no row') return found
  if (found === 'no tables') {
    const { schema } = db.context
    const [row] = await db.query('SELECT to_regnamespace($1) IS NULL AS is_missing', [
      `"${schema}"`,
    ])
    const withSchema = row?.['is_missing'] === true
    await db.runScript([INIT_LOCK, ...schemaStatements({ schema, withSchema })])
  }
  await db.query(
    'INSERT INTO S.format (version, remote_id, key_check) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
    [format.version, format.remoteId, format.keyCheck],
  )
  return readFormat(db)
}

async function findFormat(db: Database): Promise<DriverFormat | 'no tables' | 'no row'> {
  try {
    const [row] = await db.queryRaw('SELECT version, remote_id, key_check FROM S.format', [])
    if (row === undefined) return 'no row'
    return {
      version: numberIn(row, 'version'),
      remoteId: textIn(row, 'remote_id'),
      keyCheck: bytesOrNullIn(row, 'key_check'),
    }
  } catch (error) {
    if (isUndefinedTable(error)) return 'no tables'
    throw db.explain(error)
  }
}
