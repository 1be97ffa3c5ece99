// The packs of checkpoints with files, and the files of checkpoints whose pack is not here yet.
import {
  type CheckpointId,
  type ObjectId,
  type PackRef,
  parseCheckpointId,
  parseObjectId,
  type ProjectId,
  SavestateError,
} from '../../model/index.js'
import type { Database, SqlRow, SqlValue } from '../../system/index.js'
import { insertRow, number, optional, text } from '../rows.js'
import { type LogKey, type LogRow, withoutNotes } from './logs.js'
import { isMember } from './members.js'

/** A pack that the remote is not known to have. */
export type SharedPack = PackRef & {
  readonly checkpoint: CheckpointId
  readonly commit: ObjectId
  /** The tree of the parent. Null without a parent, and if its objects may be gone here: the pack is then built with everything. */
  readonly parentTree: string | null
}

/** A checkpoint whose files have no pack. */
export type PackToBuild = {
  readonly checkpoint: CheckpointId
  readonly tree: ObjectId
  readonly commit: ObjectId
}

export type NewestPack = { readonly id: string; readonly tree: string }

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

/** Oldest first, one per tree. Equal trees of one session share a pack, which is recorded here. Inside a transaction. */
export function findPacksToBuild(database: Database, log: LogRow): PackToBuild[] {
  const { owner } = log
  const withoutPack = selectWithoutPack(log)
  for (const row of database.all(
    `${withoutPack} AND EXISTS (SELECT 1 FROM checkpoints AS other JOIN shared_packs AS packs ON packs.checkpoint = other.id
       WHERE ${isMember(log, 'other')} AND packs.tree = it.tree AND packs.pack IS NOT NULL)`,
    owner,
  )) {
    const same = database.get(
      `SELECT packs.* FROM checkpoints AS it JOIN shared_packs AS packs ON checkpoint = id
       WHERE ${isMember(log, 'it')} AND packs.tree = ?2 AND pack IS NOT NULL ORDER BY is_shared DESC LIMIT 1`,
      owner,
      text(row, 'tree'),
    )
    if (same !== undefined) storePack(database, log, { ...same, checkpoint: text(row, 'id') })
  }
  const trees = new Map<string, PackToBuild>()
  for (const row of database.all(`${withoutPack} ORDER BY it.step, it.seq`, owner)) {
    const tree = parseObjectId(text(row, 'tree'))
    const commit = parseObjectId(text(row, 'commit'))
    if (!trees.has(tree))
      trees.set(tree, { checkpoint: parseCheckpointId(text(row, 'id')), tree, commit })
  }
  return [...trees.values()]
}

function selectWithoutPack(log: LogRow): string {
  return `SELECT it.id, it.tree, it."commit" FROM checkpoints AS it
    LEFT JOIN shared_packs AS own ON own.checkpoint = it.id AND own.tree = it.tree
    WHERE ${isMember(log, 'it')} AND it.tree IS NOT NULL AND own.pack IS NULL`
}

/** The newest pack whose objects are here: the next one can build on it. */
export function findNewestPack(database: Database, log: LogRow): NewestPack | undefined {
  const row = database.get(
    `SELECT packs.pack, packs.tree FROM checkpoints AS it JOIN shared_packs AS packs ON checkpoint = id AND packs.tree = it.tree
     WHERE ${isMember(log, 'it')} AND pack IS NOT NULL ORDER BY step DESC, seq DESC LIMIT 1`,
    log.owner,
  )
  return row === undefined ? undefined : { id: text(row, 'pack'), tree: text(row, 'tree') }
}

/** Inside a transaction. Records it for all checkpoints of the session that have this tree and no pack that the remote has. */
export function recordPack(database: Database, log: LogRow, pack: PackRef): void {
  const { id, parent, tree } = pack
  const parentTree = database.get('SELECT tree FROM shared_packs WHERE pack = ? LIMIT 1', parent)
  const rows = database.all(
    `SELECT it.id, own.pack, own.parent FROM checkpoints AS it
     LEFT JOIN shared_packs AS own ON own.checkpoint = it.id AND own.tree = it.tree
     WHERE ${isMember(log, 'it')} AND it.tree = ?2 AND coalesce(own.is_shared, 0) = 0`,
    log.owner,
    tree,
  )
  for (const row of rows) {
    if (row['pack'] === id && row['parent'] === parent) continue
    const parent_tree = parentTree === undefined ? null : text(parentTree, 'tree')
    const checkpoint = text(row, 'id')
    storePack(database, log, { checkpoint, tree, pack: id, parent, parent_tree, is_shared: 0 })
  }
}

/** The row of the checkpoint is sent again, with the pack. */
function storePack(database: Database, { key, log }: LogRow, row: SqlRow): void {
  const { checkpoint, tree, pack, parent, parent_tree, is_shared } = row as Record<string, SqlValue>
  insertRow(
    database,
    'shared_packs',
    {
      checkpoint: checkpoint ?? null,
      tree: tree ?? null,
      pack: pack ?? null,
      parent: parent ?? null,
      parent_tree: parent_tree ?? null,
      is_shared: is_shared ?? 0,
      is_local: 1,
    },
    {
      onConflict: `(checkpoint) DO UPDATE SET tree = excluded.tree, pack = excluded.pack, parent = excluded.parent,
        parent_tree = excluded.parent_tree, is_shared = excluded.is_shared, is_local = 1, figures = NULL, details = NULL`,
    },
  )
  database.run(
    `INSERT OR IGNORE INTO shared_changes (log, kind, row) VALUES (?, ?, ?)`,
    key,
    log.kind === 'project' ? 'saves' : 'checkpoints',
    checkpoint ?? null,
  )
}

/** The packs of these checkpoints that the remote is not known to have, parents first. */
export function findUnsharedPacks(
  database: Database,
  checkpoints: readonly string[],
): readonly SharedPack[] {
  const rows = database.all(
    `SELECT packs.*, checkpoints."commit", CASE WHEN EXISTS (SELECT 1 FROM shared_packs AS below JOIN checkpoints AS other
         ON other.id = below.checkpoint AND other.tree = below.tree WHERE below.pack = packs.parent) THEN parent_tree END AS base_tree
     FROM shared_packs AS packs JOIN checkpoints ON id = checkpoint
     WHERE checkpoint IN (SELECT value FROM json_each(?)) AND pack IS NOT NULL AND is_shared = 0
       AND checkpoints.tree = packs.tree ORDER BY step, seq`,
    JSON.stringify(checkpoints),
  )
  const packs = new Map(rows.map((row) => [text(row, 'pack'), toSharedPack(row)]))
  const sorted = new Set<SharedPack>()
  const add = (pack: SharedPack | undefined): void => {
    if (pack === undefined || sorted.has(pack)) return
    add(packs.get(pack.parent ?? ''))
    sorted.add(pack)
  }
  for (const pack of packs.values()) add(pack)
  return [...sorted]
}

/** Inside a transaction. The remote has the packs of these checkpoints. */
export function markShared(database: Database, checkpoints: readonly string[]): void {
  database.run(
    `UPDATE shared_packs SET is_shared = 1 WHERE is_shared = 0 AND pack IN
       (SELECT pack FROM shared_packs WHERE checkpoint IN (SELECT value FROM json_each(?)))`,
    JSON.stringify(checkpoints),
  )
}

/** A log whose packs may have contents that were removed from the store. */
export type StaleLog = { readonly key: LogKey; readonly owner: number; readonly remote: string }

/**
 * The shared sessions of a project with one of these checkpoints, or with a pack on another one that is unknown here, because its
 * checkpoint was removed: the remote keeps it as long as the chain lives.
 */
export function findStaleLogs(
  database: Database,
  {
    project,
    checkpoints,
  }: { readonly project: ProjectId; readonly checkpoints: readonly string[] },
): readonly StaleLog[] {
  const rows = database.all(
    `SELECT logs.key, owner, remote FROM shared_logs AS logs JOIN sessions ON kind = 'session' AND sessions.key = owner
     WHERE project = ?1 AND deleted_at IS NULL AND hash IS NOT NULL AND EXISTS (
       SELECT 1 FROM checkpoints AS it JOIN shared_packs AS packs ON packs.checkpoint = it.id
       WHERE it.session = owner AND (it.id IN (SELECT value FROM json_each(?2))
         OR packs.parent NOT IN (SELECT pack FROM shared_packs WHERE pack IS NOT NULL)))`,
    project,
    JSON.stringify(checkpoints),
  )
  return rows.map((row) => ({
    key: number(row, 'key'),
    owner: number(row, 'owner'),
    remote: text(row, 'remote'),
  }))
}

/** Inside a transaction. All files of the log that are here are sent again, in a chain that begins with a full pack. */
export function renewPacks(database: Database, { key, owner }: StaleLog): void {
  const files = `SELECT id FROM checkpoints JOIN shared_packs ON checkpoint = id WHERE session = ?1 AND is_local = 1`
  database.run(
    `INSERT OR IGNORE INTO shared_changes (log, kind, row) SELECT ?2, 'checkpoints', id FROM (${files})`,
    owner,
    key,
  )
  database.run(`DELETE FROM shared_packs WHERE checkpoint IN (${files})`, owner)
}

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

function toSharedPack(row: SqlRow): SharedPack {
  return {
    checkpoint: parseCheckpointId(text(row, 'checkpoint')),
    id: text(row, 'pack'),
    parent: optional(row, 'parent'),
    parentTree: optional(row, 'base_tree'),
    tree: text(row, 'tree'),
    commit: parseObjectId(text(row, 'commit')),
  }
}
