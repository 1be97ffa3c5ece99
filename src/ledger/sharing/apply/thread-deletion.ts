// A thread that one host deleted while another one continued it. The log has an order: what is not sent yet comes after what the remote has.
// So the rules of `Threads` apply again, as if the rows of this host were written now: a late write does not bring a deleted thread back.
import { number, optional } from '../../rows.js'
import type { Target } from './target.js'

export type DeletionMark = {
  readonly isDeleted: boolean
  /** The greatest id of a deleted checkpoint. */
  readonly deletedTo: string | null
}

export function readMark({ database, log }: Target): DeletionMark {
  const row = database.get('SELECT * FROM threads WHERE key = ?', log.owner) ?? {}
  return { isDeleted: row['deleted_at'] !== null, deletedTo: optional(row, 'deleted_to') }
}

/** `before` is the mark of this host, from before the rows of the remote were written. */
export function repeatDeletion(target: Target, before: DeletionMark): void {
  const { folded, changes } = target
  const [row] = folded.rows.thread.values()
  const isChangedHere = changes.has('thread', '')
  if (isChangedHere && (before.isDeleted || (before.deletedTo !== null && row === undefined)))
    return removeFromElsewhere(target, before)
  if (row === undefined) return
  const deletedTo = row['deleted_to'] ?? null
  const isDeletedThere = row['deleted_at'] !== null || deletedTo !== before.deletedTo
  if (isDeletedThere) removeLate(target, greater(before.deletedTo, deletedTo as string | null))
}

/** Deleted here, and continued there. */
function removeFromElsewhere(target: Target, { deletedTo }: DeletionMark): void {
  const { database, log } = target
  const notChanged = (kind: string, key: string) =>
    `thread = ?2 AND NOT EXISTS (SELECT 1 FROM shared_changes AS changes
       WHERE changes.log = ?1 AND changes.kind = '${kind}' AND changes.row = ${key})`
  const checkpoints = notChanged('graph_checkpoints', CHECKPOINT_KEY)
  const sql = `SELECT max(id) AS id FROM graph_checkpoints WHERE ${checkpoints}`
  const newest = optional(database.get(sql, log.key, log.owner) ?? {}, 'id')
  removeNoted(target, 'graph_checkpoints', checkpoints)
  removeNoted(target, 'graph_writes', notChanged('graph_writes', WRITE_KEY))
  const mark = 'UPDATE threads SET deleted_to = ? WHERE key = ?'
  database.run(mark, greater(deletedTo, newest), log.owner)
}

const CHECKPOINT_KEY = 'json_array(ns, id)'
const WRITE_KEY = 'json_array(ns, checkpoint, task, idx)'

/** Rows that the remote has, so that their removal is a change. `where` has `?1`, the log, and `?2`, the thread. */
function removeNoted(
  { database, log }: Target,
  table: 'graph_checkpoints' | 'graph_writes',
  where: string,
): void {
  const key = table === 'graph_checkpoints' ? CHECKPOINT_KEY : WRITE_KEY
  const keys = database
    .all(`SELECT ${key} AS key FROM ${table} WHERE ${where}`, log.key, log.owner)
    .map((row) => row['key'])
  const list = JSON.stringify(keys)
  database.run(
    `DELETE FROM ${table} WHERE thread = ? AND ${key} IN (SELECT value FROM json_each(?))`,
    log.owner,
    list,
  )
  database.run(
    `INSERT OR IGNORE INTO shared_changes (log, kind, row) SELECT ?, ?, value FROM json_each(?)`,
    log.key,
    table,
    list,
  )
}

/** Deleted there, and continued here: what `Threads.put` and `putWrites` would refuse now goes. */
function removeLate(target: Target, deletedToThere: string | null): void {
  const { database, log, changes } = target
  let { isDeleted } = readMark(target)
  let deletedTo = deletedToThere
  const has = (ns: string, id: string) =>
    database.get(`SELECT 1 FROM graph_checkpoints ${AT}`, log.owner, ns, id) !== undefined
  const isGone = (ns: string, id: string | null) =>
    id !== null && isAtMost(id, deletedTo) && !has(ns, id)
  const checkpoints = 'SELECT ns, id, parent FROM graph_checkpoints WHERE thread = ? ORDER BY seq'
  for (const row of database.all(checkpoints, log.owner)) {
    const [ns, id, parent] = [String(row['ns']), String(row['id']), optional(row, 'parent')]
    if (!changes.has('graph_checkpoints', ns, id)) continue
    const isNewRun = parent === null && ns === '' && !isAtMost(id, deletedToThere)
    if (isNewRun) isDeleted = false
    else if (isDeleted || isGone(ns, parent)) {
      database.run(`DELETE FROM graph_checkpoints ${AT}`, log.owner, ns, id)
      deletedTo = greater(deletedTo, id)
    }
  }
  const writes = 'SELECT seq, ns, checkpoint, task, idx FROM graph_writes WHERE thread = ?'
  for (const row of database.all(writes, log.owner)) {
    const [ns, id, task] = [String(row['ns']), String(row['checkpoint']), String(row['task'])]
    if (!changes.has('graph_writes', ns, id, task, number(row, 'idx'))) continue
    if (!isDeleted && !isGone(ns, id)) continue
    database.run('DELETE FROM graph_writes WHERE seq = ?', number(row, 'seq'))
    deletedTo = greater(deletedTo, id)
  }
  const mark = `UPDATE threads SET deleted_to = ?1, deleted_at = iif(?2, deleted_at, NULL)
    WHERE key = ?3 AND (deleted_to IS NOT ?1 OR (deleted_at IS NOT NULL) <> ?2)`
  if (database.run(mark, deletedTo, isDeleted ? 1 : 0, log.owner).changes > 0)
    database.run(
      `INSERT OR IGNORE INTO shared_changes (log, kind, row) VALUES (?, 'thread', '')`,
      log.key,
    )
}

const AT = 'WHERE thread = ? AND ns = ? AND id = ?'

function isAtMost(id: string, limit: string | null): boolean {
  return limit !== null && id <= limit
}

function greater(a: string | null, b: string | null): string | null {
  if (a === null || b === null) return a ?? b
  return a > b ? a : b
}
