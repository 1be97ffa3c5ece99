// The numbers of one log: which row of this ledger each one names.
import type { LogNumber, NumberedThing } from '../../model/index.js'
import type { Database, SqlRow } from '../../system/index.js'
import { number } from '../rows.js'
import type { LogKey } from './logs.js'

/** A row id; for details the hash of their text. */
export type Local = number | string

export type Numbered = NumberedThing & { readonly number: LogNumber; readonly local: Local }

export type NumberedKind = NumberedThing['kind']

/** As stored. */
const KINDS: Readonly<Record<NumberedKind, number>> = {
  element: 1,
  node: 2,
  state: 3,
  call: 4,
  details: 5,
}
const KIND_OF = new Map(Object.entries(KINDS).map(([kind, code]) => [code, kind as NumberedKind]))

/** Of everything except elements and nodes. */
export const NO_SIZE = { height: 0, count: 0, bytes: 0 }

const COLUMNS = 'number, kind, local, height, count, bytes'

export class LogNumbers {
  readonly #database: Database
  readonly #log: LogKey
  readonly #isEmpty: boolean
  readonly #known = new Map<NumberedKind, Map<Local, Numbered>>()
  readonly #added: Numbered[] = []
  #next: LogNumber

  /** `next`: the first number to assign. `isEmpty`: the log has no numbers yet. */
  constructor(
    database: Database,
    {
      log,
      next,
      isEmpty,
    }: { readonly log: LogKey; readonly next: LogNumber; readonly isEmpty: boolean },
  ) {
    this.#database = database
    this.#log = log
    this.#next = next
    this.#isEmpty = isEmpty
  }

  /** Higher than all numbers so far. */
  get next(): LogNumber {
    return this.#next
  }

  find(kind: NumberedKind, local: Local): Numbered | undefined {
    return this.findAll(kind, [local]).get(local)
  }

  /** The numbers of these rows, without the rows that have none. */
  findAll(kind: NumberedKind, locals: readonly Local[]): ReadonlyMap<Local, Numbered> {
    const known = this.#of(kind)
    const unknown = this.#isEmpty ? [] : locals.filter((local) => !known.has(local))
    if (unknown.length > 0) {
      // Of several numbers of one row the newest one: the others may be from before a removal. SQLite would read all numbers of the log.
      const rows = this.#database.all(
        `SELECT max(number) AS number, kind, local, height, count, bytes
         FROM json_each(?) AS wanted CROSS JOIN shared_numbers INDEXED BY shared_numbers_by_row
         WHERE log = ? AND kind = ? AND local = wanted.value GROUP BY local`,
        JSON.stringify(unknown),
        this.#log,
        KINDS[kind],
      )
      for (const row of rows) known.set(row['local'] as Local, toNumbered(row))
    }
    return known
  }

  assign(kind: NumberedKind, local: Local, size: Omit<NumberedThing, 'kind'>): Numbered {
    const numbered = { kind, local, number: this.#next, ...size }
    this.#next += 1
    this.#of(kind).set(local, numbered)
    this.#added.push(numbered)
    return numbered
  }

  /** Stores the assigned numbers. */
  flush(): void {
    insertNumbers(this.#database, this.#log, this.#added)
    this.#added.length = 0
  }

  #of(kind: NumberedKind): Map<Local, Numbered> {
    let known = this.#known.get(kind)
    if (known === undefined) {
      known = new Map()
      this.#known.set(kind, known)
    }
    return known
  }
}

/** The rows of these numbers, without the numbers that the log does not have. */
export function readNumbers(
  database: Database,
  log: LogKey,
  numbers: Iterable<LogNumber>,
): Map<LogNumber, Numbered> {
  const rows = database.all(
    `SELECT ${COLUMNS} FROM json_each(?) AS wanted CROSS JOIN shared_numbers
     WHERE log = ? AND number = wanted.value`,
    JSON.stringify([...numbers]),
    log,
  )
  return new Map(rows.map((row) => [number(row, 'number'), toNumbered(row)]))
}

export function insertNumbers(database: Database, log: LogKey, added: readonly Numbered[]): void {
  const sql = `INSERT INTO shared_numbers (log, ${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)`
  for (const { number: n, kind, local, height, count, bytes } of added)
    database.run(sql, log, n, KINDS[kind], local, height, count, bytes)
}

/**
 * Inside the transaction of a collection, before its first removal: the numbers of rows that it will remove go. A segment that uses one
 * of them is applied together with all segments before it instead.
 */
export function forgetCollected(
  database: Database,
  rows: Readonly<
    Record<
      'states' | 'nodes' | 'elements',
      { readonly live: ReadonlySet<number>; readonly newest: number }
    >
  >,
): void {
  if (database.get('SELECT 1 FROM shared_numbers LIMIT 1') === undefined) return
  for (const [kind, { live, newest }] of [
    [KINDS.state, rows.states],
    [KINDS.node, rows.nodes],
    [KINDS.element, rows.elements],
  ] as const)
    database.run(
      `DELETE FROM shared_numbers WHERE kind = ? AND local <= ?
       AND local NOT IN (SELECT value FROM json_each(?))`,
      kind,
      newest,
      JSON.stringify([...live]),
    )
}

/** `isUnused` is a condition on the hash in the column `local`. */
export function forgetDetails(database: Database, isUnused: string): void {
  database.run(`DELETE FROM shared_numbers WHERE kind = ${KINDS.details} AND ${isUnused}`)
}

function toNumbered(row: SqlRow): Numbered {
  return {
    number: number(row, 'number'),
    kind: KIND_OF.get(number(row, 'kind')) ?? 'element',
    local: row['local'] as Local,
    height: number(row, 'height'),
    count: number(row, 'count'),
    bytes: number(row, 'bytes'),
  }
}
