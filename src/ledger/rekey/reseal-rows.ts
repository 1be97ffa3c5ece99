// Seals a row with another key. Rows of tables without callers' values are copied unchanged.
import type { SqlRow } from '../../system/index.js'
import {
  contextOf,
  openColumn,
  SEALED_COLUMNS,
  type SealedColumn,
  textOf,
} from '../encryption/index.js'
import { RESEAL_STATES, type Resealing } from '../states/index.js'

/** The tables with values to seal. */
export const RESEALED_TABLES: readonly string[] = [
  ...new Set([...Object.keys(RESEAL_STATES), ...SEALED_COLUMNS.map(tableOf)]),
]

/** Returns the row as it is written to the target, or the same row if its table has no values to seal. */
export function resealRow(table: string, row: SqlRow, resealing: Resealing): SqlRow {
  const reseal = RESEAL_STATES[table]
  if (reseal !== undefined) return { ...row, ...reseal(row, resealing) }
  const { vault, key } = resealing
  let resealed = row
  for (const column of SEALED_COLUMNS) {
    if (tableOf(column) !== table || textOf(column, row) === undefined) continue
    const plain = openColumn(vault, column, row)
    const text = key === undefined ? plain : key.seal(plain, contextOf(column, row))
    resealed = { ...resealed, [column.slice(table.length + 1)]: text }
  }
  return resealed
}

function tableOf(column: SealedColumn): string {
  return column.slice(0, column.indexOf('.'))
}
