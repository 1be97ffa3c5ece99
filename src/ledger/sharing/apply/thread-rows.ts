// Writes the rows of a graph thread from elsewhere.
import { SHARED_COLUMNS, type SharedRow, sharedRowKey } from '../../../model/index.js'
import type { SqlValue } from '../../../system/index.js'
import { readMark, repeatDeletion } from './thread-deletion.js'
import { localColumns, localOf, type Target, upsert } from './target.js'

type GraphTable = 'graph_checkpoints' | 'graph_writes'

export function applyThread(target: Target): void {
  const { database, log, folded, changes } = target
  const mark = readMark(target)
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
  repeatDeletion(target, mark)
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

/** Two hosts ran one task, and this write was first: it stays, as on one host. Not if it was removed here. */
function isFirstWrite({ database, log }: Target, table: GraphTable, row: SharedRow): boolean {
  if (table !== 'graph_writes' || Number(row['idx']) < 0) return false
  const { ns = null, checkpoint = null, task = null, idx = null } = row
  const sql = `SELECT 1 FROM graph_writes WHERE thread = ? AND ns = ? AND checkpoint = ? AND task = ? AND idx = ?`
  return database.get(sql, log.owner, ns, checkpoint, task, idx) !== undefined
}

function applyRows(target: Target, table: GraphTable): void {
  const { database, log, folded, changes } = target
  const { key } = SHARED_COLUMNS[table]
  for (const row of folded.rows[table].values()) {
    const isChangedHere = changes.has(table, ...key.map((column) => row[column] ?? null))
    if (isChangedHere && !isFirstWrite(target, table, row)) continue
    const columns: Record<string, SqlValue> = {
      thread: log.owner,
      ...localColumns(target, table, { row }),
    }
    if (table === 'graph_checkpoints') columns['state'] = localOf(target, row['state'])
    upsert(database, table, { row: columns, key: ['thread', ...key] })
  }
}
