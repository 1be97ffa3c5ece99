// Writes the rows of a graph thread from elsewhere.
import { SHARED_COLUMNS, type SharedRow, sharedRowKey } from '../../model/index.js'
import type { SqlValue } from '../../system/index.js'
import { insertRow } from '../rows.js'
import { localColumns, localOf, setExcluded, type Target } from './apply-target.js'

type GraphTable = 'graph_checkpoints' | 'graph_writes'

export function applyThread(target: Target): void {
  const { database, log, folded, changes } = target
  const [row] = folded.rows.thread.values()
  if (row !== undefined && !changes.has('thread', '')) {
    const { deleted_at: deletedAt = null, deleted_to: deletedTo = null } = row
    const sql = 'UPDATE threads SET deleted_at = ?, deleted_to = ? WHERE key = ?'
    database.run(sql, deletedAt, deletedTo, log.owner)
  }
  for (const table of ['graph_checkpoints', 'graph_writes'] as const) {
    removeRows(target, table)
    applyRows(target, table)
  }
}

function removeRows({ database, log, folded, changes }: Target, table: GraphTable): void {
  const { key } = SHARED_COLUMNS[table]
  const gone = folded.isBase
    ? database
        .all(`SELECT ${key.join()} FROM ${table} WHERE thread = ?`, log.owner)
        .map((row) => row as SharedRow)
        .filter((row) => !folded.rows[table].has(sharedRowKey(table, row)))
    : [...folded.removed[table].values()]
  const sql = `DELETE FROM ${table} WHERE thread = ? AND ${key.map((column) => `${column} = ?`).join(' AND ')}`
  for (const row of gone) {
    const values = key.map((column) => row[column] ?? null)
    if (!changes.has(table, ...values)) database.run(sql, log.owner, ...values)
  }
}

function applyRows(target: Target, table: GraphTable): void {
  const { database, log, folded, changes } = target
  const { key } = SHARED_COLUMNS[table]
  for (const row of folded.rows[table].values()) {
    if (changes.has(table, ...key.map((column) => row[column] ?? null))) continue
    const columns: Record<string, SqlValue> = {
      thread: log.owner,
      ...localColumns(target, table, { row }),
    }
    if (table === 'graph_checkpoints') columns['state'] = localOf(target, row['state'])
    insertRow(database, table, columns, {
      onConflict: `(thread, ${key.join()}) DO UPDATE SET ${setExcluded(Object.keys(columns))}`,
    })
  }
}
