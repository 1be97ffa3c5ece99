// Writes the rows of a session from elsewhere: its own row and its checkpoints.
import {
  type CheckpointId,
  parseCheckpointId,
  segmentFault,
  type SharedRow,
} from '../../../model/index.js'
import type { SqlRow, SqlValue } from '../../../system/index.js'
import { Pruning } from '../../checkpoints/pruning.js'
import { Imports } from '../../records/imports.js'
import { insertRow, optional, text } from '../../rows.js'
import { localColumns, localOf, setExcluded, type Target, upsert } from './target.js'
import { FIGURES } from '../checkpoint-files.js'

/** Creates a session that is not here yet, or that was deleted here, with the columns that a row must have. */
export function createSession(
  { database }: Pick<Target, 'database'>,
  {
    id,
    row,
    project,
  }: { readonly id: string; readonly row: SharedRow; readonly project: string | null },
): void {
  const { status, created_at: createdAt, updated_at: updatedAt } = row
  const columns = {
    id,
    project,
    status: status ?? null,
    created_at: createdAt ?? null,
    updated_at: updatedAt ?? null,
    deleted_at: null,
  }
  // Like `Sessions.create`: a late write of the deleted session fails.
  insertRow(database, 'sessions', columns, {
    onConflict: `(id) DO UPDATE SET ${setExcluded(Object.keys(columns))}, fence = fence + 1`,
  })
}

export function applySession(target: Target): void {
  const { database, log, folded, project } = target
  if (project !== null)
    database.run(
      'UPDATE sessions SET project = coalesce(project, ?) WHERE key = ?',
      project,
      log.owner,
    )
  const [row] = folded.rows.session.values()
  if (row === undefined || target.changes.has('session', '')) return
  const columns = localColumns(target, 'session', { row, key: { id: log.log.id } })
  const set = Object.keys(columns).map((column) => `${column} = ?`)
  const sql = `UPDATE sessions SET ${set.join()} WHERE key = ?`
  database.run(sql, ...Object.values(columns), log.owner)
}

export function removeCheckpoints(target: Target): void {
  const { database, log, folded, changes } = target
  const gone = folded.isBase
    ? database
        .all('SELECT id FROM checkpoints WHERE session = ?', log.owner)
        .map((row) => text(row, 'id'))
        .filter((id) => !folded.rows.checkpoints.has(id))
    : ownedIds(
        target,
        [...folded.removed.checkpoints.values()].map(({ id }) => String(id)),
      )
  const ids = gone.filter((id) => !changes.has('checkpoints', id)).map(parseCheckpointId)
  if (ids.length === 0) return
  // A rewind of the project's files can still be undone: the checkpoints that it needs stay, without the session.
  database.run(
    `UPDATE checkpoints SET session = NULL, parent = NULL, step = NULL, status = NULL, status_reason = NULL,
       turn = NULL, tool_call = NULL, state = NULL, schema_version = NULL, metadata = NULL, operation_id = NULL
     WHERE id IN (SELECT value FROM json_each(?)) AND tree IS NOT NULL
       AND (id IN (SELECT safety FROM operations) OR id IN (SELECT result FROM operations))`,
    JSON.stringify(ids),
  )
  const pruning = new Pruning(database)
  pruning.moveHeads(ownedIds(target, ids))
  pruning.drop(ownedIds(target, ids))
}

/** Without ids of other sessions: a log can remove only its own checkpoints. */
function ownedIds({ database, log }: Target, ids: readonly string[]): CheckpointId[] {
  const sql =
    'SELECT id FROM checkpoints WHERE session = ? AND id IN (SELECT value FROM json_each(?))'
  return database
    .all(sql, log.owner, JSON.stringify(ids))
    .map((row) => parseCheckpointId(text(row, 'id')))
}

/** Returns how many of them were not here. */
export function applyCheckpoints(target: Target): number {
  const { database, folded, changes } = target
  const rows = [...folded.rows.checkpoints.values()]
    .filter(({ id }) => !changes.has('checkpoints', id ?? null))
    .sort((a, b) => Number(a['step']) - Number(b['step']))
  if (rows.length === 0) return 0
  const existing = new Map(
    database
      .all(
        `SELECT id, session, project, tree, "commit", details FROM checkpoints WHERE id IN (SELECT value FROM json_each(?))`,
        JSON.stringify(rows.map(({ id }) => id)),
      )
      .map((row) => [text(row, 'id'), row]),
  )
  const session = database.get('SELECT project FROM sessions WHERE key = ?', target.log.owner)
  const project = (session?.['project'] ?? null) as SqlValue
  for (const row of rows)
    applyCheckpoint(target, { row, was: existing.get(String(row['id'])), project })
  return rows.length - existing.size
}

function applyCheckpoint(
  target: Target,
  {
    row,
    was,
    project,
  }: { readonly row: SharedRow; readonly was: SqlRow | undefined; readonly project: SqlValue },
): void {
  const { database, log } = target
  const { id = null, tree = null } = row
  const hasSameFiles = tree !== null && was?.['tree'] === tree
  // Kept for an undo when its session was deleted here.
  const isOrphan = was?.['session'] === null && hasSameFiles
  if (was !== undefined && was['session'] !== log.owner && !isOrphan)
    throw segmentFault(`checkpoint ${String(id)} belongs to something else in this store`)
  const columns = localColumns(target, 'checkpoints', { row })
  delete columns['pack']
  // A row never names objects that are not here (I1). The number of files outlives them.
  if (!hasSameFiles) for (const column of [...FIGURES, 'tree']) columns[column] = null
  if (tree === null) columns['file_count'] = row['file_count'] ?? null
  columns['commit'] = hasSameFiles ? text(was, 'commit') : null
  columns['details'] = hasSameFiles ? optional(was, 'details') : null
  columns['session'] = log.owner
  columns['state'] = localOf(target, row['state'])
  columns['project'] = was === undefined ? project : optional(was, 'project')
  const seq = was === undefined ? seqOf(target, row) : undefined
  upsert(database, 'checkpoints', { row: columns, key: ['id'] })
  if (seq !== undefined) database.run('UPDATE checkpoints SET seq = ? WHERE id = ?', seq, id)
  if (tree !== null || was !== undefined) applyPack(target, { row, isLocal: hasSameFiles })
}

/** After the step before it. */
function seqOf({ database, log }: Target, row: SharedRow): number | undefined {
  const before = database.get(
    'SELECT id FROM checkpoints WHERE session = ? AND step < ? ORDER BY step DESC LIMIT 1',
    log.owner,
    row['step'] ?? null,
  )
  const after = before === undefined ? null : text(before, 'id')
  return new Imports(database).seqByTime({ atMs: Number(row['created_at']), after })
}

function applyPack(
  target: Target,
  { row, isLocal }: { readonly row: SharedRow; readonly isLocal: boolean },
): void {
  const { database } = target
  const { id = null, tree = null, pack = null } = row
  if (tree === null) {
    database.run('DELETE FROM shared_packs WHERE checkpoint = ?', id)
    return
  }
  const figures = Object.fromEntries(FIGURES.map((column) => [column, row[column]]))
  const columns = {
    checkpoint: id,
    tree,
    pack,
    is_shared: pack === null ? 0 : 1,
    is_local: isLocal ? 1 : 0,
    figures: isLocal ? null : JSON.stringify(figures),
    details: isLocal ? null : localOf(target, row['details']),
  }
  upsert(database, 'shared_packs', { row: columns, key: ['checkpoint'] })
}

/** Throws BAD_INPUT if the session from elsewhere has no head, or would use a step twice. */
export function checkSession({ database, log }: Target): void {
  const row = database.get(
    `SELECT (head IS NULL OR EXISTS (SELECT 1 FROM checkpoints WHERE id = head AND session = key)) AS has_head,
       next_step > coalesce((SELECT max(step) FROM checkpoints WHERE session = key), -1) AS is_next
     FROM sessions WHERE key = ?`,
    log.owner,
  )
  if (row?.['has_head'] !== 1) throw segmentFault('the head of the session is missing')
  if (row['is_next'] !== 1) throw segmentFault('the next step of the session exists already')
}
