// Reads the checkpoints that a prune decides about, and removes their rows.
import {
  type BytePath,
  type CheckpointId,
  type CheckpointKind,
  isInside,
  type ObjectId,
  parseCheckpointId,
  parseObjectId,
  type ProjectId,
  type SessionKey,
  type SnapshotDetails,
  type StatusWord,
  type WeightedGraph,
} from '../../model/index.js'
import type { SqlRow } from '../../system/index.js'
import { storeDetails } from './detail-rows.js'
import { IS_NAMED_BY_USER } from './name-owners.js'
import { number, optional } from '../rows.js'
import { RowRemoval } from './row-removal.js'
import { bytesOfStates, readStateGraph, stateGraphId } from '../states/index.js'

/** The fields of a checkpoint that a prune decides by. */
export type PruningRow = {
  readonly id: CheckpointId
  readonly kind: CheckpointKind
  readonly name: string | null
  readonly isNamedByUser: boolean
  readonly reason: string | null
  readonly pinned: boolean
  /** Null if it holds a state only. */
  readonly commit: ObjectId | null
  /** Null if it holds files only. */
  readonly state: number | null
  readonly createdAtMs: number
  /** When it was imported into this store. */
  readonly importedAtMs: number | null
  readonly session: {
    readonly key: SessionKey
    readonly status: StatusWord
    readonly updatedAtMs: number
    readonly turn: number
    /** The session continues from it. */
    readonly isHead: boolean
  } | null
  /** A checkpoint of a graph thread refers to its files. */
  readonly isOfThread: boolean
  /** An undo or redo restores its files. */
  readonly isInOperation: boolean
  /** An undo restores its state: it is the step of its session before a rewind. */
  readonly isBeforeOperation: boolean
}

export type Replacement = {
  readonly tree: ObjectId
  readonly commit: ObjectId
  /** The number of files below the path, and their size. */
  readonly files: number
  readonly bytes: number
  readonly path: BytePath
}

export class Pruning extends RowRemoval {
  /** Newest first. For null, those of sessions without a project. */
  checkpointsOf(project: ProjectId | null): PruningRow[] {
    return this.database
      .all(
        `SELECT checkpoints.id, kind, name, reason, pinned, "commit", state, checkpoints.created_at, session, checkpoints.turn,
           sessions.status AS session_status, sessions.updated_at, sessions.head,
           sessions.created_at AS session_created_at,
           name IS NOT NULL AND ${IS_NAMED_BY_USER} AS is_named_by_user,
           CASE kind WHEN 'imported' THEN (SELECT max(at) FROM imports WHERE checkpoint = checkpoints.id) END
             AS imported_at,
           checkpoints.id IN (SELECT files FROM graph_checkpoints WHERE files IS NOT NULL) AS is_of_thread,
           checkpoints.id IN (SELECT safety FROM operations WHERE project = ?1
             UNION SELECT result FROM operations WHERE project = ?1) AS is_in_operation,
           checkpoints.id IN (SELECT before.id FROM operations JOIN checkpoints AS result ON result.id = operations.result
             JOIN checkpoints AS before ON before.session = result.session AND before.step = result.step - 1
             WHERE operations.project = ?1) AS is_before_operation
         FROM checkpoints LEFT JOIN sessions ON sessions.key = session
         WHERE checkpoints.project ${project === null ? 'IS NULL' : '= ?1'} ORDER BY seq DESC`,
        project,
      )
      .map(toPruningRow)
  }

  /** When the project was last used; undefined if there is no such project. */
  touchedAtMs(project: ProjectId): number | undefined {
    const row = this.database.get('SELECT touched_at FROM projects WHERE id = ?', project)
    return row === undefined ? undefined : number(row, 'touched_at')
  }

  /** A text that changes whenever a snapshot or a state of the project is added or removed. */
  contentMark(project: ProjectId): string {
    const row = this.database.get(
      'SELECT count("commit") AS files, count(state) AS states, max(seq) AS newest FROM checkpoints WHERE project = ?',
      project,
    )
    return JSON.stringify(row)
  }

  /** The bytes of the states of a project or of these sessions, including content that they share with others. */
  stateBytes(
    of: { readonly project: ProjectId } | { readonly sessions: readonly SessionKey[] },
  ): number {
    const isProject = 'project' in of
    const where = isProject ? 'project = ?' : 'session IN (SELECT value FROM json_each(?))'
    const sql = `SELECT DISTINCT state AS id FROM checkpoints WHERE state IS NOT NULL AND ${where}`
    const rows = this.database.all(sql, isProject ? of.project : JSON.stringify(of.sessions))
    const ids = rows.map((row) => number(row, 'id'))
    return bytesOfStates(this.database, ids)
  }

  /** Whether a checkpoint of a graph thread refers to the files of this one. */
  isOfThread(id: CheckpointId): boolean {
    const sql = 'SELECT 1 FROM graph_checkpoints WHERE files = ? LIMIT 1'
    return this.database.get(sql, id) !== undefined
  }

  /** Whether a checkpoint that an undo needs was removed. */
  hasLostUndo(project: ProjectId): boolean {
    const sql = 'SELECT 1 FROM projects WHERE id = ? AND has_lost_undo'
    return this.database.get(sql, project) !== undefined
  }

  /** The number of checkpoints without a project. */
  unattached(): number {
    const sql = 'SELECT count(*) AS count FROM checkpoints WHERE project IS NULL'
    return number(this.database.get(sql) ?? {}, 'count')
  }

  /** The commits that rows refer to, of one project or of all. */
  commits(project: ProjectId | null = null): Set<string> {
    const sql = `SELECT "commit" FROM checkpoints WHERE "commit" IS NOT NULL AND coalesce(project = ?1, ?1 IS NULL)`
    return new Set(this.database.all(sql, project).map((row) => String(row['commit'])))
  }

  /** Whether a row refers to this commit. */
  holds(commit: string): boolean {
    const sql = 'SELECT 1 FROM checkpoints WHERE "commit" = ? LIMIT 1'
    return this.database.get(sql, commit) !== undefined
  }

  /** All states with their sizes. Those of graph threads are live in it; those of checkpoints are not yet. */
  stateGraph(): WeightedGraph {
    const graph = readStateGraph(this.database)
    const sql = 'SELECT state AS id FROM graph_checkpoints'
    for (const row of this.database.all(sql)) {
      const root = stateGraphId(number(row, 'id'))
      if (graph.has(root)) graph.add(root)
    }
    return graph
  }

  /** Inside a transaction. Gives the checkpoint another snapshot, which lacks `path`. */
  replaceFiles(
    id: CheckpointId,
    { tree, commit, files, bytes, path }: Replacement,
    details: SnapshotDetails = { skippedPaths: [], repositories: [] },
  ): void {
    const forgotten = { path, reason: 'forgotten' as const, sizeBytes: bytes }
    const skippedPaths = [forgotten, ...details.skippedPaths]
    const owners = details.owners?.filter((owned) => !isInside(owned.path, path))
    const digest = storeDetails(this.database, { ...details, skippedPaths, owners })
    this.database.run(
      `UPDATE checkpoints SET tree = ?, "commit" = ?, file_count = file_count - ?, size_bytes = size_bytes - ?,
         details = ?, skipped_counts = json_set(skipped_counts, '$.forgotten',
           coalesce(json_extract(skipped_counts, '$.forgotten'), 0) + 1)
       WHERE id = ?`,
      tree,
      commit,
      files,
      bytes,
      digest,
      id,
    )
  }

  /** Inside a transaction. False if something still belongs to the project. */
  forgetProject(project: ProjectId): boolean {
    const isInUse = this.database.get(
      `SELECT 1 FROM checkpoints WHERE project = ?1
       UNION SELECT 1 FROM sessions WHERE project = ?1 AND deleted_at IS NULL
       UNION SELECT 1 FROM operations WHERE project = ?1`,
      project,
    )
    if (isInUse !== undefined) return false
    // A deleted session keeps its row, for its fence.
    this.database.run('UPDATE sessions SET project = NULL WHERE project = ?', project)
    return this.database.run('DELETE FROM projects WHERE id = ?', project).changes > 0
  }
}

function toPruningRow(row: SqlRow): PruningRow {
  const status = optional(row, 'session_status')
  const id = String(row['id'])
  const commit = optional(row, 'commit')
  return {
    id: parseCheckpointId(id),
    kind: String(row['kind']) as CheckpointKind,
    name: optional(row, 'name'),
    isNamedByUser: number(row, 'is_named_by_user') === 1,
    reason: optional(row, 'reason'),
    pinned: number(row, 'pinned') === 1,
    commit: commit === null ? null : parseObjectId(commit),
    state: typeof row['state'] === 'number' ? row['state'] : null,
    createdAtMs: number(row, 'created_at'),
    importedAtMs: importedAtOf(row),
    session:
      status === null
        ? null
        : {
            key: number(row, 'session'),
            status: status as StatusWord,
            updatedAtMs: number(row, 'updated_at'),
            turn: number(row, 'turn'),
            isHead: row['head'] === id,
          },
    isOfThread: number(row, 'is_of_thread') === 1,
    isInOperation: number(row, 'is_in_operation') === 1,
    isBeforeOperation: number(row, 'is_before_operation') === 1,
  }
}

/** An import from JSON records no time. Its session was created for the import, or earlier. */
function importedAtOf(row: SqlRow): number | null {
  if (row['kind'] !== 'imported') return null
  const times = [row['imported_at'], row['session_created_at']]
  return Math.max(0, ...times.filter((time) => typeof time === 'number'))
}
