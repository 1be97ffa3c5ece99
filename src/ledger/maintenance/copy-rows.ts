// Copies the rows of a damaged database that can still be read, table by table: from the start up to the damaged part, then from
// the end back to it.
import { SavestateError } from '../../model/index.js'
import type { Database, SqlRow, SqlValue } from '../../system/index.js'

const AT_ONCE = 256

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
  /** What to do with a row that the target has already. */
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

/** With the columns that both have; undefined if the source has lost it. */
function tableIn(source: Database, target: Database, name: string): Table | undefined {
  const known = target.all(`PRAGMA file.table_info(${name})`)
  const there = readable(() => source.all(`PRAGMA file.table_info(${name})`)) ?? []
  const names = new Set(there.map((row) => String(row['name'])))
  const columns = known.map((row) => String(row['name'])).filter((column) => names.has(column))
  if (columns.length === 0) return undefined
  const sql = String(target.get('SELECT sql FROM file.sqlite_schema WHERE name = ?', name)?.['sql'])
  const primary = known
    .filter((row) => Number(row['pk']) > 0)
    .sort((a, b) => Number(a['pk']) - Number(b['pk']))
    .map((row) => String(row['name']))
  return { name, columns, keys: /WITHOUT ROWID/i.test(sql) ? primary : ['rowid'] }
}

/** False if rows are missing or were refused. */
function* copyTable(
  source: Database,
  table: Table,
  insertRow: (row: SqlRow) => boolean,
): Generator<void, boolean> {
  const forward = new Passage(table, source, 'forward')
  let isComplete = true
  const put = (row: SqlRow) => {
    if (!insertRow(row)) isComplete = false
  }
  if ((yield* forward.run(put)) === 'damage') {
    isComplete = false
    yield* new Passage(table, source, 'backward', forward.last).run(put)
  }
  return isComplete && forward.skipped === 0
}

/** From one end of a table as far as it goes. */
class Passage {
  readonly #table: Table
  readonly #source: Database
  readonly #direction: 'forward' | 'backward'
  readonly #stop: readonly SqlValue[] | undefined
  last: readonly SqlValue[] | undefined
  skipped = 0

  constructor(
    table: Table,
    source: Database,
    direction: 'forward' | 'backward',
    stop?: readonly SqlValue[],
  ) {
    this.#table = table
    this.#source = source
    this.#direction = direction
    this.#stop = stop
  }

  *run(put: (row: SqlRow) => void): Generator<void, 'end' | 'damage'> {
    const columns = this.#table.columns.map((name) => `"${name}"`).join()
    let count = AT_ONCE
    for (;;) {
      const rows = readable(() => this.#next(columns, count))
      if (rows !== undefined) {
        for (const row of rows) {
          put(row)
          yield
        }
        this.last = keysOf(rows.at(-1), this.#table.keys) ?? this.last
        if (rows.length < count) return 'end'
        count = AT_ONCE
      } else if (count > 1) {
        count = 1
      } else {
        // The row cannot be read; its key perhaps can.
        const key = keysOf(readable(() => this.#next('NULL', 1))?.[0], this.#table.keys)
        if (key === undefined) return 'damage'
        this.last = key
        this.skipped += 1
      }
    }
  }

  #next(columns: string, count: number): readonly SqlRow[] {
    const { name, keys } = this.#table
    const isForward = this.#direction === 'forward'
    const key = keys.join()
    const marks = keys.map(() => '?').join()
    const conditions: string[] = []
    const values: SqlValue[] = []
    if (this.last !== undefined) {
      conditions.push(`(${key}) ${isForward ? '>' : '<'} (${marks})`)
      values.push(...this.last)
    }
    if (this.#stop !== undefined) {
      conditions.push(`(${key}) > (${marks})`)
      values.push(...this.#stop)
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

/** False for a row whose values the table refuses. */
function insert(
  target: Database,
  { name, columns }: Table,
  { row, onConflict }: Pick<CopyOptions, 'onConflict'> & { readonly row: SqlRow },
): boolean {
  const marks = columns.map(() => '?').join()
  const quoted = columns.map((column) => `"${column}"`).join()
  const values = columns.map((column) => row[column] as SqlValue)
  const sql = `INSERT OR ${onConflict} INTO ${name} (${quoted}) VALUES (${marks})`
  return readable(() => target.run(sql, ...values)) !== undefined
}

/** Undefined for what SQLite cannot do with these bytes. What the world refuses is thrown. */
function readable<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch (error) {
    if (error instanceof SavestateError && error.code === 'DISK_FULL') throw error
    return undefined
  }
}
