// Removes rows of checkpoints and keeps the rest consistent: parents, authors and operations refer to existing rows (I1).
import { type CheckpointId, parseCheckpointId, type ProjectId } from '../../model/index.js'
import type { Database, SqlRow } from '../../system/index.js'
import { mergeAuthorsIntoNext } from './authors.js'
import { number, optional } from '../rows.js'
import { LedgerTable } from '../ledger-table.js'

export abstract class RowRemoval extends LedgerTable {
  /**
   * Inside a transaction. Removes the rows of these checkpoints, gives their parents to their children, and removes the operations
   * that need one of them. Never call it for the head of a session.
   */
  drop(ids: readonly CheckpointId[]): void {
    mergeAuthorsIntoNext(this.database, ids)
    forgetOperations(this.database, ids)
    reparent(this.database, { ids, children: childrenOf(this.database, ids) })
    const sql = 'DELETE FROM checkpoints WHERE id IN (SELECT value FROM json_each(?))'
    this.database.run(sql, JSON.stringify(ids))
  }

  /** Inside a transaction. Removes the files of these checkpoints of sessions, and keeps their states. */
  dropFiles(ids: readonly CheckpointId[]): void {
    mergeAuthorsIntoNext(this.database, ids)
    forgetOperations(this.database, ids)
    // `file_count` stays, to show that there were files.
    this.database.run(
      `UPDATE checkpoints SET tree = NULL, "commit" = NULL, files = NULL, insertions = NULL, deletions = NULL,
         size_bytes = NULL, skipped_counts = NULL, details = NULL, authors = NULL
       WHERE session IS NOT NULL AND id IN (SELECT value FROM json_each(?))`,
      JSON.stringify(ids),
    )
  }

  /** Inside a transaction, before these are dropped. Moves heads to the nearest remaining ancestor, or else to the last remaining step. */
  moveHeads(ids: readonly CheckpointId[]): void {
    const list = JSON.stringify(ids)
    const sql = 'SELECT key, head FROM sessions WHERE head IN (SELECT value FROM json_each(?))'
    const sessions = this.database.all(sql, list)
    for (const row of sessions) {
      const key = number(row, 'key')
      const next = this.database.get(
        `WITH RECURSIVE line (id, depth) AS (
           SELECT ?1, 0 UNION ALL
           SELECT parent, depth + 1 FROM checkpoints JOIN line USING (id) WHERE session = ?2 AND parent IS NOT NULL)
         SELECT checkpoints.id FROM checkpoints LEFT JOIN line USING (id)
         WHERE session = ?2 AND checkpoints.id NOT IN (SELECT value FROM json_each(?3))
         ORDER BY depth IS NULL, depth, step DESC LIMIT 1`,
        String(row['head']),
        key,
        list,
      )
      const head = next === undefined ? null : String(next['id'])
      this.database.run('UPDATE sessions SET head = ? WHERE key = ?', head, key)
    }
  }

  /**
   * Inside a transaction. Removes all rows of a project, with its sessions and operations, and returns the number of checkpoints.
   * Sessions keep their rows, for their fences.
   */
  clearProject(project: ProjectId, atMs: number): number {
    const rows = this.database.all('SELECT id FROM checkpoints WHERE project = ?', project)
    const ids = rows.map((row) => parseCheckpointId(String(row['id'])))
    const list = JSON.stringify(ids)
    const sessions = 'SELECT key FROM sessions WHERE project = ?'
    const sql = `DELETE FROM partials WHERE call IN (SELECT seq FROM tool_calls WHERE session IN (${sessions}))`
    this.database.run(sql, project)
    this.database.run(`DELETE FROM tool_calls WHERE session IN (${sessions})`, project)
    this.database.run(
      'UPDATE graph_checkpoints SET files = NULL WHERE files IN (SELECT value FROM json_each(?))',
      list,
    )
    this.database.run('DELETE FROM operations WHERE project = ?', project)
    // A session that was resumed into another folder left its earlier files in this project.
    this.moveHeads(ids)
    reparent(this.database, { ids, children: childrenOf(this.database, ids) })
    this.database.run('DELETE FROM checkpoints WHERE id IN (SELECT value FROM json_each(?))', list)
    this.database.run(
      `UPDATE sessions SET deleted_at = coalesce(deleted_at, ?), project = NULL, fence = fence + 1, head = NULL,
         metadata = NULL, lease_owner = NULL, lease_expires_at = NULL, next_step = 0, turn = 0 WHERE project = ?`,
      atMs,
      project,
    )
    this.database.run('DELETE FROM projects WHERE id = ?', project)
    return ids.length
  }
}

/** Sets `has_lost_undo`, so that an undo can report why there is nothing to undo. */
function forgetOperations(database: Database, ids: readonly CheckpointId[]): void {
  const gone = database.all(
    `WITH RECURSIVE gone (id) AS (
       SELECT id FROM operations WHERE safety IN (SELECT value FROM json_each(?1))
         OR result IN (SELECT value FROM json_each(?1))
       UNION SELECT operations.id FROM operations JOIN gone ON operations.of = gone.id)
     DELETE FROM operations WHERE id IN gone RETURNING project`,
    JSON.stringify(ids),
  )
  for (const project of new Set(gone.map((row) => String(row['project']))))
    database.run('UPDATE projects SET has_lost_undo = 1 WHERE id = ?', project)
}

/** Reads every checkpoint of every session, because there is no index of parents. */
function childrenOf(database: Database, ids: readonly CheckpointId[]): readonly SqlRow[] {
  return database.all(
    `SELECT id, parent FROM checkpoints WHERE session IS NOT NULL
     AND parent IN (SELECT value FROM json_each(?))`,
    JSON.stringify(ids),
  )
}

/** Inside a transaction, before these are deleted. Gives each remaining child its nearest remaining ancestor as its parent. */
export function reparent(
  database: Database,
  {
    ids,
    children,
  }: { readonly ids: readonly CheckpointId[]; readonly children: readonly SqlRow[] },
): void {
  const gone = new Map(
    database
      .all(
        'SELECT id, parent FROM checkpoints WHERE id IN (SELECT value FROM json_each(?))',
        JSON.stringify(ids),
      )
      .map((row) => [String(row['id']), optional(row, 'parent')]),
  )
  for (const row of children) {
    if (gone.has(String(row['id']))) continue
    let parent = optional(row, 'parent')
    while (parent !== null && gone.has(parent)) parent = gone.get(parent) ?? null
    database.run('UPDATE checkpoints SET parent = ? WHERE id = ?', parent, String(row['id']))
  }
}
