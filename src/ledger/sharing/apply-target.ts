// What the writers of rows from elsewhere have in common: the log, and the rows that were changed here meanwhile.
import {
  type FoldedRows,
  type LogNumber,
  type ProjectId,
  type SharedRow,
  SHARED_COLUMNS,
  type SharedTable,
} from '../../model/index.js'
import type { Database, SqlRow, SqlValue } from '../../system/index.js'
import { sealColumn, type Vault } from '../encryption/index.js'
import { sealedColumnsOf } from './collect-rows.js'
import type { LogRow } from './logs.js'
import type { Local } from './numbers.js'

export type Target = {
  readonly database: Database
  readonly vault: Vault
  readonly log: LogRow
  readonly folded: FoldedRows
  /** The rows of the numbers. Tool calls are added as they are written. */
  readonly locals: Map<LogNumber, Local>
  readonly changes: LocalChanges
  /** The project here of a session that has none yet. */
  readonly project: ProjectId | null
}

/** The rows that were changed here and not sent yet: they are not replaced. */
export class LocalChanges {
  readonly #keys = new Map<string, Set<string>>()
  readonly isEmpty: boolean

  constructor(database: Database, log: number) {
    const rows = database.all('SELECT kind, row FROM shared_changes WHERE log = ?', log)
    this.isEmpty = rows.length === 0
    for (const { kind, row } of rows) {
      const keys = this.#keys.get(String(kind)) ?? new Set()
      this.#keys.set(String(kind), keys)
      keys.add(normalKey(String(row)))
    }
  }

  /** `key` is one value, or several. */
  has(table: SharedTable, ...key: readonly SqlValue[]): boolean {
    const keys = this.#keys.get(table)
    if (keys === undefined) return false
    return keys.has(key.length === 1 ? String(key[0]) : JSON.stringify(key))
  }

  count(table: string): number {
    return this.#keys.get(table)?.size ?? 0
  }
}

/** SQLite may escape other characters than JSON.stringify does. */
function normalKey(key: string): string {
  return key.startsWith('[') ? JSON.stringify(JSON.parse(key)) : key
}

/** The columns of a row from elsewhere that this ledger has under the same names, sealed. `key` are columns that sealing needs. */
export function localColumns(
  { vault }: Target,
  table: SharedTable,
  { row, key = {} }: { readonly row: SharedRow; readonly key?: Readonly<Record<string, SqlValue>> },
): Record<string, SqlValue> {
  const columns: Record<string, SqlValue> = {}
  for (const [name, { type }] of Object.entries(SHARED_COLUMNS[table].columns))
    if (type !== 'call' && type !== 'state' && type !== 'details') columns[name] = row[name] ?? null
  const context: SqlRow = { ...columns, ...key }
  for (const { column, name } of sealedColumnsOf(table))
    if (columns[name] !== null) columns[name] = sealColumn(vault, column, context)
  return columns
}

/** The row of a number; null for null. */
export function localOf({ locals }: Target, number: SharedRow[string] | undefined): Local | null {
  return typeof number === 'number' ? (locals.get(number) ?? null) : null
}

export function setExcluded(columns: Iterable<string>): string {
  return [...columns].map((column) => `"${column}" = excluded."${column}"`).join()
}
