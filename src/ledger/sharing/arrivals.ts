// Checkpoints of projects that came from elsewhere without their files. A checkpoint without a session is nothing but its files, so it
// becomes a row of `checkpoints` when they are here (I1).
import {
  type CheckpointId,
  type CheckpointKind,
  type ObjectId,
  parseCheckpointId,
  parseProjectId,
  type ProjectId,
  type SharedRow,
} from '../../model/index.js'
import type { Database, SqlRow } from '../../system/index.js'
import { Imports } from '../records/imports.js'
import { insertRow, number, optional, text } from '../rows.js'
import { type LogRow, withoutNotes } from './logs.js'
import type { SharedFiles } from './checkpoint-files.js'

export type Arrival = SharedFiles & {
  readonly checkpoint: CheckpointId
  readonly kind: CheckpointKind
  readonly reason: string | null
  readonly createdAtMs: number
  /** Null if it was removed here. */
  readonly project: ProjectId | null
}

const SELECT = `SELECT saves.*, project_logs.id AS log_id, project FROM shared_saves AS saves
  JOIN shared_logs ON shared_logs.key = log JOIN project_logs ON project_logs.key = owner`

/** Oldest first. */
export function findArrivals(database: Database, { key }: LogRow): readonly Arrival[] {
  const rows = database.all(`${SELECT} WHERE log = ? ORDER BY saves.seq`, key).map(toArrival)
  return rows.sort((a, b) => a.createdAtMs - b.createdAtMs)
}

export function readArrival(database: Database, id: CheckpointId): Arrival | undefined {
  const row = database.get(`${SELECT} WHERE saves.id = ?`, id)
  return row === undefined ? undefined : toArrival(row)
}

/** Inside a transaction, after the objects, the commit and the ref (I1). */
export function attachArrival(database: Database, id: CheckpointId, commit: ObjectId): void {
  const arrival = database.get(`${SELECT} WHERE saves.id = ?`, id)
  if (arrival === undefined) return
  database.run('DELETE FROM shared_saves WHERE id = ?', id)
  const project = optional(arrival, 'project')
  const isKnown = database.get('SELECT 1 FROM checkpoints WHERE id = ?', id) !== undefined
  // A session that came meanwhile has it, or the project was removed.
  if (isKnown || project === null) return
  const { pack, ...columns } = columnsOf(arrival)
  const { tree, created_at: createdAt } = columns
  const logId = text(arrival, 'log_id')
  withoutNotes(database, number(arrival, 'log'), () => {
    const seq = new Imports(database).seqByTime({ atMs: Number(createdAt), after: null })
    insertRow(database, 'checkpoints', {
      ...columns,
      ...(seq === undefined ? {} : { seq }),
      commit,
      project,
      project_log: logId === project ? null : logId,
      details: optional(arrival, 'details'),
    })
    insertRow(database, 'shared_packs', {
      checkpoint: id,
      tree: tree ?? null,
      pack: pack ?? null,
      is_shared: 1,
      is_local: 1,
    })
  })
}

function toArrival(row: SqlRow): Arrival {
  const { kind, reason, created_at: createdAt, tree, pack } = columnsOf(row)
  const project = optional(row, 'project')
  return {
    checkpoint: parseCheckpointId(text(row, 'id')),
    kind: String(kind) as CheckpointKind,
    reason: typeof reason === 'string' ? reason : null,
    createdAtMs: Number(createdAt),
    tree: String(tree),
    pack: typeof pack === 'string' ? pack : null,
    isLocal: false,
    project: project === null ? null : parseProjectId(project),
  }
}

/** Without the details, which have a column of their own. */
function columnsOf(row: SqlRow): SharedRow {
  return JSON.parse(text(row, 'row')) as SharedRow
}
