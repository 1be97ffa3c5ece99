// Writes the checkpoints of a project from elsewhere. Their ids are never used twice and no row depends on another one, so what two hosts
// have added stays, in any order. A checkpoint that is new here waits for its files (arrivals.ts).
import { parseCheckpointId, type SharedRow } from '../../../model/index.js'
import { Pruning } from '../../checkpoints/pruning.js'
import { optional, text } from '../../rows.js'
import { isSave } from '../members.js'
import { localColumns, localOf, type Target } from './target.js'

export function applySaves(target: Target): void {
  removeSaves(target)
  for (const row of target.folded.rows.saves.values()) applySave(target, row)
}

function removeSaves(target: Target): void {
  const { database, log, folded, changes } = target
  const ids = database
    .all(`SELECT it.id FROM checkpoints AS it WHERE ${isSave('it')}`, log.owner)
    .concat(database.all('SELECT id FROM shared_saves WHERE log = ?', log.key))
    .map((row) => text(row, 'id'))
  const { rows, removed } = folded
  const isGone = (id: string) => (folded.isBase ? !rows.saves.has(id) : removed.saves.has(id))
  drop(
    target,
    ids.filter((id) => isGone(id) && !changes.has('saves', id)),
  )
}

/** A rewind here can still be undone: the checkpoints that it needs stay. */
function drop({ database, log }: Target, ids: readonly string[]): void {
  if (ids.length === 0) return
  const list = JSON.stringify(ids)
  const sql = 'DELETE FROM shared_saves WHERE log = ? AND id IN (SELECT value FROM json_each(?))'
  database.run(sql, log.key, list)
  const rows = database.all(
    `SELECT it.id FROM checkpoints AS it WHERE ${isSave('it')} AND it.id IN (SELECT value FROM json_each(?2))
       AND it.id NOT IN (SELECT safety FROM operations UNION SELECT result FROM operations)`,
    log.owner,
    list,
  )
  new Pruning(database).drop(rows.map((row) => parseCheckpointId(text(row, 'id'))))
}

function applySave(target: Target, row: SharedRow): void {
  const { database, log, changes } = target
  const { id = null, tree = null } = row
  if (changes.has('saves', id)) return
  const was = database.get(
    `SELECT it.tree, ${isSave('it')} AS is_mine FROM checkpoints AS it WHERE it.id = ?2`,
    log.owner,
    id,
  )
  // Another log has brought it: its session was deleted on the host that sent this.
  if (was !== undefined && was['is_mine'] !== 1) return
  if (was !== undefined && optional(was, 'tree') === tree) return updateSave(target, row)
  // Another host has removed a path from it: its files come again.
  drop(target, [String(id)])
  const columns = localColumns(target, 'saves', { row })
  database.run(
    `INSERT INTO shared_saves (id, log, row, details) VALUES (?, ?, ?, ?)
     ON CONFLICT (id) DO NOTHING`,
    id,
    log.key,
    JSON.stringify(columns),
    localOf(target, row['details']),
  )
}

/** Everything but the files, which are the same. */
function updateSave({ database }: Target, row: SharedRow): void {
  const values = CHANGEABLE.map((column) => row[column] ?? null)
  const sql = `UPDATE checkpoints SET ${CHANGEABLE.map((column) => `${column} = ?`).join()} WHERE id = ?`
  const { id = null, pack = null } = row
  database.run(sql, ...values, id)
  if (pack !== null)
    database.run('UPDATE shared_packs SET pack = ?, is_shared = 1 WHERE checkpoint = ?', pack, id)
}

const CHANGEABLE = ['kind', 'name', 'reason', 'created_at', 'pinned', 'authors', 'named_by']
