// The rows of checkpoints. A checkpoint belongs to a project, a session, or both.
import {
  type Checkpoint,
  type CheckpointId,
  type FilesCheckpoint,
  hasFiles,
  type ObjectId,
  parseObjectId,
  type ProjectId,
  type SessionKey,
  type SessionPosition,
  type SnapshotDetails,
} from '../../model/index.js'
import type { SqlValue } from '../../system/index.js'
import { authorsColumn } from './authors.js'
import * as briefs from './checkpoint-briefs.js'
import { readDetails, readUncaptured, storeDetails, type UncapturedRow } from './detail-rows.js'
import { type OutsideRow, readOutsideSince } from './outside-rows.js'
import { readTurnUsage, type TurnUsage } from './turn-usage.js'
import { encodeMetadata, insertRow, number, optional, toCheckpoint } from '../rows.js'
import { SealedTable } from '../ledger-table.js'

const SELECT = `SELECT checkpoints.*, sessions.id AS session_id, sessions.agent AS session_agent FROM checkpoints
  LEFT JOIN sessions ON sessions.key = checkpoints.session`

/** Names, numbers and short ids refer to a checkpoint within a project or within a session. */
export type Scope = { readonly project: ProjectId } | { readonly session: SessionKey }

export class Checkpoints extends SealedTable {
  /** How many checkpoints this process has added. */
  #added = 0

  get added(): number {
    return this.#added
  }

  /** Inside a transaction. Pass `details` for a checkpoint with a snapshot. */
  insert(checkpoint: Checkpoint, details: SnapshotDetails | undefined): void {
    const { id, project, kind, name, reason, createdAtMs, session } = checkpoint
    insertRow(this.database, 'checkpoints', {
      id,
      project,
      kind,
      name,
      reason,
      created_at: createdAtMs,
      pinned: checkpoint.pinned ? 1 : 0,
      authors: authorsColumn(checkpoint.authors),
      ...(hasFiles(checkpoint) && this.#filesColumns(checkpoint, details)),
      ...(session !== null && this.#sessionColumns(id, session)),
    })
    this.#added += 1
    if (project !== null) this.#touch(project, createdAtMs)
  }

  /** Newest first; with `afterStep` oldest first. */
  list(query: briefs.CheckpointQuery): Checkpoint[] {
    const { rest, values } = briefs.restOf(query)
    return this.database
      .all(`${SELECT} ${rest}`, ...values)
      .map((row) => toCheckpoint(row, this.vault))
  }

  /** The same without what a list does not show: a row costs a tenth. */
  briefs(query: briefs.BriefsQuery): briefs.OrderedBrief[] {
    return briefs.readBriefs(this.database, query, this.vault)
  }

  get(id: CheckpointId): Checkpoint | undefined {
    return this.#one('WHERE checkpoints.id = ?', id)
  }

  details(id: CheckpointId): SnapshotDetails | undefined {
    const sql = 'SELECT json FROM details JOIN checkpoints ON details = hash WHERE id = ?'
    const row = this.database.get(sql, id)
    return row === undefined ? undefined : readDetails(this.database, row)
  }

  /** The newest snapshot of a project. */
  newestFiles(project: ProjectId): FilesCheckpoint | undefined {
    const rest = 'WHERE checkpoints.project = ? AND tree IS NOT NULL ORDER BY seq DESC LIMIT 1'
    return withFiles(this.#one(rest, project))
  }

  /** The snapshots of the newest 50 checkpoints, newest first. */
  newestTrees(project: ProjectId): ObjectId[] {
    const sql =
      'SELECT tree FROM checkpoints WHERE project = ? AND tree IS NOT NULL ORDER BY seq DESC LIMIT 50'
    const rows = this.database.all(sql, project)
    return rows.map((row) => parseObjectId(String(row['tree'])))
  }

  /** The snapshot of the same project just before this checkpoint. */
  filesBefore({ id, project }: Pick<Checkpoint, 'id' | 'project'>): FilesCheckpoint | undefined {
    const rest = `WHERE checkpoints.project = ? AND tree IS NOT NULL
      AND seq < (SELECT seq FROM checkpoints WHERE id = ?) ORDER BY seq DESC LIMIT 1`
    return withFiles(this.#one(rest, project, id))
  }

  /** Newer checkpoints of the project that list uncaptured changes, newest first. */
  uncapturedSince(checkpoint: FilesCheckpoint): UncapturedRow[] {
    return readUncaptured(this.database, checkpoint)
  }

  /** Newer checkpoints of the project with commands that changed something outside the folder, newest first. */
  outsideSince(checkpoint: FilesCheckpoint): readonly OutsideRow[] {
    return readOutsideSince(this.database, checkpoint, this.vault)
  }

  /** The tokens of one prompt of an agent. */
  usageOfTurn(position: Pick<SessionPosition, 'key' | 'turn'>): TurnUsage | undefined {
    return readTurnUsage(this.database, { session: position.key, turn: position.turn }, this.vault)
  }

  /** The n-th newest, starting at 1. */
  byNumber(scope: Scope, n: number): Checkpoint | undefined {
    const { column, value } = columnOf(scope)
    return this.#one(`WHERE ${column} = ? ORDER BY seq DESC LIMIT 1 OFFSET ?`, value, n - 1)
  }

  /** The number by which `byNumber` finds this checkpoint in its project. */
  numberOf({ id, project }: Pick<FilesCheckpoint, 'id' | 'project'>): number {
    const sql = `SELECT count(*) AS number FROM checkpoints
      WHERE project = ? AND seq >= (SELECT seq FROM checkpoints WHERE id = ?)`
    return Number(this.database.get(sql, project, id)?.['number'])
  }

  /** The newest with this name. */
  byName(scope: Scope, name: string): Checkpoint | undefined {
    return this.allByName(scope, name, 1)[0]
  }

  /** Newest first. */
  allByName(scope: Scope, name: string, limit = -1): Checkpoint[] {
    const { column, value } = columnOf(scope)
    const sql = `${SELECT} WHERE ${column} = ? AND name = ? ORDER BY seq DESC LIMIT ?`
    const rows = this.database.all(sql, value, name, limit)
    return rows.map((row) => toCheckpoint(row, this.vault))
  }

  /** Newest first. */
  byPrefix(scope: Scope, prefix: string, { limit }: { readonly limit: number }): Checkpoint[] {
    const { column, value } = columnOf(scope)
    // The plus makes SQLite search the index of ids instead of reading the whole scope.
    const sql = `${SELECT} WHERE +${column} = ? AND checkpoints.id >= ? AND checkpoints.id < ?
      ORDER BY seq DESC LIMIT ?`
    const rows = this.database.all(sql, value, prefix, `${prefix}~`, limit)
    return rows.map((row) => toCheckpoint(row, this.vault))
  }

  count(query: Omit<briefs.BriefsQuery, 'limit'> = {}): number {
    return briefs.countCheckpoints(this.database, query)
  }

  /** Where it is in the order of the whole store. */
  seqOf(id: CheckpointId): number | undefined {
    const row = this.database.get('SELECT seq FROM checkpoints WHERE id = ?', id)
    return row === undefined ? undefined : number(row, 'seq')
  }

  /** The ids before and after this one in sorted order. No other id shares a longer prefix with it. */
  neighborsOf(id: string): string[] {
    const row = this.database.get(
      `SELECT (SELECT max(id) FROM checkpoints WHERE id < ?1) AS before,
         (SELECT min(id) FROM checkpoints WHERE id > ?1) AS after`,
      id,
    )
    return [row?.['before'], row?.['after']].filter((other) => typeof other === 'string')
  }

  byOperation(session: SessionKey, operationId: string): Checkpoint | undefined {
    return this.#one('WHERE session = ? AND operation_id = ?', session, operationId)
  }

  /** Whether a checkpoint is `head` or an ancestor of it, and not on a branch that a rewind abandoned. */
  isBehind({ id, session }: Checkpoint, head: CheckpointId | null): boolean {
    const sql = `WITH RECURSIVE line (id) AS (
        SELECT ? UNION SELECT parent FROM checkpoints JOIN line USING (id) WHERE session = ?)
      SELECT 1 FROM line WHERE id = ? LIMIT 1`
    return this.database.get(sql, head, session?.key ?? null, id) !== undefined
  }

  /** Whether the undo or redo of an operation needs this checkpoint. */
  isInOperation(id: CheckpointId): boolean {
    // Also the step just before: its state is the one that an undo restores.
    const sql = `SELECT 1 FROM operations WHERE safety = ?1 OR result = ?1
      OR result = (SELECT next.id FROM checkpoints AS it JOIN checkpoints AS next
        ON next.session = it.session AND next.step = it.step + 1 WHERE it.id = ?1) LIMIT 1`
    return this.database.get(sql, id) !== undefined
  }

  releaseOperation(id: CheckpointId): void {
    this.database.run('UPDATE checkpoints SET operation_id = NULL WHERE id = ?', id)
  }

  /** How many checkpoints of a session have each name; the key null counts those without a name. */
  countByName(session: SessionKey): ReadonlyMap<string | null, number> {
    const sql = 'SELECT name, count(*) AS count FROM checkpoints WHERE session = ? GROUP BY name'
    const rows = this.database.all(sql, session)
    return new Map(rows.map((row) => [optional(row, 'name'), number(row, 'count')]))
  }

  oldest(session: SessionKey): Checkpoint | undefined {
    return this.#one('WHERE session = ? ORDER BY step LIMIT 1', session)
  }

  byStep(session: SessionKey, step: number): Checkpoint | undefined {
    return this.#one('WHERE session = ? AND step = ?', session, step)
  }

  setName(id: CheckpointId, name: string | null): void {
    this.database.run('UPDATE checkpoints SET name = ? WHERE id = ?', name, id)
  }

  setPinned(id: CheckpointId, pinned: boolean): void {
    this.database.run('UPDATE checkpoints SET pinned = ? WHERE id = ?', pinned ? 1 : 0, id)
  }

  #one(rest: string, ...values: readonly SqlValue[]): Checkpoint | undefined {
    const row = this.database.get(`${SELECT} ${rest}`, ...values)
    return row === undefined ? undefined : toCheckpoint(row, this.vault)
  }

  #filesColumns(
    { snapshot, commit, changes }: FilesCheckpoint,
    details: SnapshotDetails = { skippedPaths: [], repositories: [] },
  ): Columns {
    return {
      files: changes.files,
      insertions: changes.insertions,
      deletions: changes.deletions,
      commit,
      tree: snapshot.tree,
      file_count: snapshot.fileCount,
      size_bytes: snapshot.sizeBytes,
      skipped_counts: JSON.stringify(snapshot.skippedCounts),
      details: storeDetails(this.database, details),
    }
  }

  #sessionColumns(id: CheckpointId, session: SessionPosition): Columns {
    const { key, parent, step, status, turn, toolCall, state, schemaVersion, metadata } = session
    return {
      session: key,
      parent,
      step,
      status: status.state,
      status_reason: 'reason' in status ? status.reason : null,
      turn,
      tool_call: toolCall,
      state,
      schema_version: schemaVersion,
      metadata: encodeMetadata(this.vault, 'checkpoints', { id, metadata }),
      operation_id: session.operationId,
    }
  }

  /** Never moves the time back: a clock that was behind must not make a project in use look abandoned. */
  #touch(project: ProjectId, atMs: number): void {
    const sql = 'UPDATE projects SET touched_at = max(touched_at, ?) WHERE id = ?'
    this.database.run(sql, atMs, project)
  }
}

type Columns = Readonly<Record<string, SqlValue>>

function columnOf(scope: Scope): { readonly column: string; readonly value: SqlValue } {
  return 'project' in scope
    ? { column: 'checkpoints.project', value: scope.project }
    : { column: 'session', value: scope.session }
}

function withFiles(checkpoint: Checkpoint | undefined): FilesCheckpoint | undefined {
  return checkpoint !== undefined && hasFiles(checkpoint) ? checkpoint : undefined
}
