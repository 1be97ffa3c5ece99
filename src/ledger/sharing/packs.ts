// The packs of checkpoints with files: which to build, to send, and to build again.
import {
  type CheckpointId,
  type ObjectId,
  type PackRef,
  parseCheckpointId,
  parseObjectId,
  type ProjectId,
} from '../../model/index.js'
import type { Database, SqlRow, SqlValue } from '../../system/index.js'
import { insertRow, number, optional, text } from '../rows.js'
import type { LogKey, LogRow } from './logs.js'
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
