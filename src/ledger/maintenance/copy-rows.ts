// Copies the readable rows of a damaged database, table by table: from the start up to the damaged page, then from the end back to it.
import { SavestateError } from '../../model/index.js'
import type { Database, SqlRow, SqlValue } from '../../system/index.js'

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
  return runToEnd(copyRowSteps(...copy))
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

export function runToEnd<Result>(steps: Generator<void, Result>): Result {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
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
  const forward = new TableReader(table, source)
  let isComplete = true
  const put = (row: SqlRow) => {
    if (!insertRow(row)) isComplete = false
  }
  if ((yield* forward.run(put)) === 'damage') {
    isComplete = false
    yield* new TableReader(table, source, { backToKey: forward.last }).run(put)
  }
  return isComplete && forward.skipped === 0
}

type Backward = { readonly backToKey: readonly SqlValue[] | undefined }

/** Reads a table from its start, or backward from its end to a key, until the end or a damaged page. */
class TableReader {
  readonly #table: Table
  readonly #source: Database
  readonly #backward: Backward | undefined
  last: readonly SqlValue[] | undefined
  skipped = 0

  constructor(table: Table, source: Database, backward?: Backward) {
    this.#table = table
    this.#source = source
    this.#backward = backward
  }

  *run(put: (row: SqlRow) => void): Generator<void, 'end' | 'damage'> {
    const columns = this.#table.columns.map((name) => `"${name}"`).join()
    let count = BATCH_ROWS
    for (;;) {
      const rows = ifReadable(() => this.#next(columns, count))
      if (rows !== undefined) {
        for (const row of rows) {
          put(row)
          yield
        }
        this.last = keysOf(rows.at(-1), this.#table.keys) ?? this.last
        if (rows.length < count) return 'end'
        count = BATCH_ROWS
      } else if (count > 1) {
        count = 1
      } else {
        // The row is not readable. If its key is, skip the row.
        const key = keysOf(ifReadable(() => this.#next('NULL', 1))?.[0], this.#table.keys)
        if (key === undefined) return 'damage'
        this.last = key
        this.skipped += 1
      }
    }
  }

  #next(columns: string, count: number): readonly SqlRow[] {
    const { name, keys } = this.#table
    const isForward = this.#backward === undefined
    const key = keys.join()
    const marks = keys.map(() => '?').join()
    const conditions: string[] = []
    const values: SqlValue[] = []
    if (this.last !== undefined) {
      conditions.push(`(${key}) ${isForward ? '>' : '<'} (${marks})`)
      values.push(...this.last)
    }
    if (this.#backward?.backToKey !== undefined) {
      conditions.push(`(${key}) > (${marks})`)
      values.push(...this.#backward.backToKey)
    }
    const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`
    const order = keys.map((each) => `${each} ${isForward ? 'ASC' : 'DESC'}`).join()
    const named = keys.map((each, n) => `${each} AS key_${n}`).join()
    const sql = `SELECT ${named}, ${columns} FROM ${name} NOT INDEXED ${where} ORDER BY ${order} LIMIT ?`
    return this.#source.all(sql, ...values, count)
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
