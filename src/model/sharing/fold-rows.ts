// The rows that a log has after several segments.
import { sharedRowKey } from './columns.js'
import { type SegmentContent, SHARED_TABLES, type SharedRow, type SharedTable } from './segment.js'

/** By table, then by key (`sharedRowKey`). */
export type RowsByKey = Readonly<Record<SharedTable, Map<string, SharedRow>>>

export type FoldedRows = {
  /** Whether one of the segments is a base: rows that are not in `rows` do not exist. */
  readonly isBase: boolean
  readonly rows: RowsByKey
  /** The key columns of rows that do not exist any more. Empty for a base. */
  readonly removed: RowsByKey
}

export function foldRows(contents: readonly SegmentContent[]): FoldedRows {
  const lastBase = contents.findLastIndex(({ isBase }) => isBase)
  const [rows, removed] = [emptyTables(), emptyTables()]
  for (const content of contents.slice(Math.max(lastBase, 0)))
    for (const table of SHARED_TABLES) {
      for (const key of content.removed[table] ?? []) {
        rows[table].delete(sharedRowKey(table, key))
        if (lastBase === -1) removed[table].set(sharedRowKey(table, key), key)
      }
      for (const row of content.rows[table] ?? []) {
        removed[table].delete(sharedRowKey(table, row))
        rows[table].set(sharedRowKey(table, row), row)
      }
    }
  return { isBase: lastBase !== -1, rows, removed }
}

function emptyTables(): RowsByKey {
  return {
    session: new Map(),
    checkpoints: new Map(),
    tool_calls: new Map(),
    partials: new Map(),
    saves: new Map(),
    thread: new Map(),
    graph_checkpoints: new Map(),
    graph_writes: new Map(),
  }
}
