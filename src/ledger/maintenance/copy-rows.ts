// Copies the readable rows of a damaged database, table by table: from the start up to the damaged page, then from the end back to it.
import { SavestateError } from '../../model/index.js'
import { type Database, openDatabase, type SqlRow, type SqlValue } from '../../system/index.js'
import { createTables } from '../schema.js'
import { allowShrinking } from './vacuum.js'

const BATCH_ROWS = 256

type Table = {
  readonly name: string
  readonly keys: readonly string[]
  readonly columns: readonly string[]
}

export function tablesOf(database: Database): readonly string[] {
  return database
    .all(`SELECT name FROM file.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'`)
    .map((row) => String(row['name']))
}

/** An empty ledger to copy rows into. Copied rows may refer to rows that are copied later. */
export function createLedger(path: string): Database {
  const database = openDatabase(path, { timeoutMs: 0 })
  try {
    database.exec('PRAGMA foreign_keys = OFF')
    allowShrinking(database)
    createTables(database)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

export type CopyOptions = {
  readonly tables: readonly string[]
  /** For a row that the target already has. */
  readonly onConflict: 'REPLACE' | 'IGNORE'
  readonly change?: (table: string, row: SqlRow) => SqlRow
}

/** Returns the names of the tables that it could not copy completely. */
export function copyRows(
  ...copy: readonly [source: Database, target: Database, options: CopyOptions]
): readonly string[] {
  const steps = copyRowSteps(...copy)
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/** Like `copyRows`, one row per step, so that the caller can pause between two rows. */
export function* copyRowSteps(
  source: Database,
  target: Database,
  { tables, onConflict, change = (_, row) => row }: CopyOptions,
): Generator<void, readonly string[]> {
  const incomplete: string[] = []
  for (const name of tables) {
    const table = tableIn(source, target, name)
    const put = (row: SqlRow) =>
      table !== undefined && insert(target, table, { row: change(name, row), onConflict })
    if (table === undefined || !(yield* copyTable(source, table, put))) incomplete.push(name)
  }
  return incomplete
}

/** With the columns that both databases have; undefined if the source has lost the table. */
function tableIn(source: Database, target: Database, name: string): Table | undefined {
  const known = target.all(`PRAGMA file.table_info(${name})`)
  const found = ifReadable(() => source.all(`PRAGMA file.table_info(${name})`)) ?? []
  const names = new Set(found.map((row) => String(row['name'])))
  const columns = known.map((row) => String(row['name'])).filter((column) => names.has(column))
  if (columns.length === 0) return undefined
  const sql = String(target.get('SELECT sql FROM file.sqlite_schema WHERE name = ?', name)?.['sql'])
  const primary = known
    .filter((row) => Number(row['pk']) > 0)
    .sort((a, b) => Number(a['pk']) - Number(b['pk']))
    .map((row) => String(row['name']))
  return { name, columns, keys: /WITHOUT ROWID/i.test(sql) ? primary : ['rowid'] }
}

/** False if a row could not be read or inserted. */
function* copyTable(
  source: Database,
  table: Table,
  insertRow: (row: SqlRow) => boolean,
): Generator<void, boolean> {
  let isComplete = true
  const put = (row: SqlRow | undefined) => {
    if (row === undefined || !insertRow(row)) isComplete = false
  }
  const forward = yield* readTable(source, table, { put, isBackward: false, stop: undefined })
  if (!forward.isDamaged) return isComplete
  yield* readTable(source, table, { put, isBackward: true, stop: forward.last })
  return false
}

type Reading = {
  /** Undefined for a row that cannot be read. */
  readonly put: (row: SqlRow | undefined) => void
  readonly isBackward: boolean
  /** Reads only rows with greater keys. */
  readonly stop: Key | undefined
}

type Key = readonly SqlValue[]

/** Reads a table from its start or from its end, until the other end or a damaged page. `last` is the last key before that. */
function* readTable(
  source: Database,
  table: Table,
  { put, isBackward, stop }: Reading,
): Generator<void, { readonly isDamaged: boolean; readonly last: Key | undefined }> {
  const { name, keys } = table
  const key = keys.join()
  const marks = keys.map(() => '?').join()
  const order = keys.map((each) => `${each} ${isBackward ? 'DESC' : 'ASC'}`).join()
  const named = keys.map((each, n) => `${each} AS key_${n}`).join()
  let last: Key | undefined
  const next = (columns: string, limit: number) => {
    const conditions = [
      ...(last === undefined ? [] : [`(${key}) ${isBackward ? '<' : '>'} (${marks})`]),
      ...(stop === undefined ? [] : [`(${key}) > (${marks})`]),
    ]
    const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`
    const sql = `SELECT ${named}, ${columns} FROM ${name} NOT INDEXED ${where} ORDER BY ${order} LIMIT ?`
    return ifReadable(() => source.all(sql, ...(last ?? []), ...(stop ?? []), limit))
  }
  const columns = table.columns.map((column) => `"${column}"`).join()
  for (let limit = BATCH_ROWS; ; ) {
    const rows = next(columns, limit)
    for (const row of rows ?? []) {
      put(row)
      yield
    }
    last = keysOf(rows?.at(-1), keys) ?? last
    if (rows !== undefined && rows.length < limit) return { isDamaged: false, last }
    if (rows === undefined && limit === 1) {
      // The row is not readable. If its key is, skip the row.
      const skipped = keysOf(next('NULL', 1)?.[0], keys)
      if (skipped === undefined) return { isDamaged: true, last }
      put(undefined)
      last = skipped
    }
    // After a failure, read one by one up to the damaged row.
    limit = rows === undefined ? 1 : BATCH_ROWS
  }
}

function keysOf(row: SqlRow | undefined, keys: readonly string[]): SqlValue[] | undefined {
  return row === undefined ? undefined : keys.map((_, n) => row[`key_${n}`] as SqlValue)
}

/** False if the table's constraints reject the row. */
function insert(
  target: Database,
  { name, columns }: Table,
  { row, onConflict }: Pick<CopyOptions, 'onConflict'> & { readonly row: SqlRow },
): boolean {
  const marks = columns.map(() => '?').join()
  const quoted = columns.map((column) => `"${column}"`).join()
  const values = columns.map((column) => row[column] as SqlValue)
  const sql = `INSERT OR ${onConflict} INTO ${name} (${quoted}) VALUES (${marks})`
  return ifReadable(() => target.run(sql, ...values)) !== undefined
}

/** Undefined if SQLite fails because of the data. A full disk is thrown. */
function ifReadable<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch (error) {
    if (error instanceof SavestateError && error.code === 'DISK_FULL') throw error
    return undefined
  }
}
