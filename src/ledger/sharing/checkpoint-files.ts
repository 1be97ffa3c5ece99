// The files of a checkpoint that came from elsewhere: not here at first, then fetched and attached to its row.
import {
  type CheckpointId,
  type ObjectId,
  parseCheckpointId,
  type ProjectId,
  SavestateError,
} from '../../model/index.js'
import type { Database, SqlValue } from '../../system/index.js'
import { number, optional, text } from '../rows.js'
import { type LogRow, withoutNotes } from './logs.js'

export type SharedFiles = {
  readonly tree: string
  /** Null if the host that has them has not built it yet. */
  readonly pack: string | null
  /** Whether the objects are here, and the row of the checkpoint names them. */
  readonly isLocal: boolean
}

/** The columns of a checkpoint that `figures` replaces. */
export const FIGURES = [
  'files',
  'insertions',
  'deletions',
  'file_count',
  'size_bytes',
  'skipped_counts',
] as const

/** Undefined if the checkpoint has no files. */
export function readFiles(database: Database, checkpoint: string): SharedFiles | undefined {
  const row = database.get(
    `SELECT it.tree, packs.tree AS pack_tree, pack, is_local FROM checkpoints AS it
     LEFT JOIN shared_packs AS packs ON packs.checkpoint = it.id WHERE it.id = ?`,
    checkpoint,
  )
  if (row === undefined) return undefined
  const [tree, packTree, pack] = [
    optional(row, 'tree'),
    optional(row, 'pack_tree'),
    optional(row, 'pack'),
  ]
  if (tree !== null) return { tree, pack: tree === packTree ? pack : null, isLocal: true }
  if (packTree === null || row['is_local'] !== 0) return undefined
  return { tree: packTree, pack, isLocal: false }
}

/** The checkpoints of a session whose objects are not here, newest first. */
export function findMissingFiles(
  database: Database,
  { owner }: LogRow,
): readonly (SharedFiles & { readonly checkpoint: CheckpointId })[] {
  const sql = `SELECT id, packs.tree, pack FROM checkpoints JOIN shared_packs AS packs ON checkpoint = id
    WHERE session = ? AND checkpoints.tree IS NULL AND is_local = 0 ORDER BY step DESC`
  return database.all(sql, owner).map((row) => ({
    checkpoint: parseCheckpointId(text(row, 'id')),
    tree: text(row, 'tree'),
    pack: optional(row, 'pack'),
    isLocal: false,
  }))
}

/** Inside a transaction, after the objects, the commit and the ref (I1). Throws CHECKPOINT_UNKNOWN. */
export function attachFiles(
  database: Database,
  checkpoint: CheckpointId,
  { commit, project }: { readonly commit: ObjectId; readonly project: ProjectId },
): void {
  const row = database.get(
    `SELECT packs.*, session, checkpoints.tree AS own_tree FROM shared_packs AS packs JOIN checkpoints ON id = checkpoint
     WHERE checkpoint = ?`,
    checkpoint,
  )
  if (row === undefined || row['is_local'] !== 0) {
    // Another process has fetched them meanwhile.
    if (row?.['own_tree'] === row?.['tree'] && row !== undefined) return
    throw new SavestateError(
      'CHECKPOINT_UNKNOWN',
      `No files of checkpoint ${checkpoint} are missing`,
    )
  }
  const figures = JSON.parse(text(row, 'figures')) as Record<string, SqlValue>
  const values = FIGURES.map((column) => figures[column] ?? null)
  const log = database.get(
    `SELECT key FROM shared_logs WHERE owner = ? AND kind = 'session'`,
    number(row, 'session'),
  )
  const attach = () => {
    database.run(
      `UPDATE checkpoints SET project = ?, tree = ?, "commit" = ?, details = ?,
         ${FIGURES.map((column) => `${column} = ?`).join()} WHERE id = ?`,
      project,
      text(row, 'tree'),
      commit,
      optional(row, 'details'),
      ...values,
      checkpoint,
    )
    const sql =
      'UPDATE shared_packs SET is_local = 1, figures = NULL, details = NULL WHERE checkpoint = ?'
    database.run(sql, checkpoint)
  }
  if (log === undefined) attach()
  else withoutNotes(database, number(log, 'key'), attach)
}
