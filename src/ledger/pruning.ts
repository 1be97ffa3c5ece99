// What a prune has to know of the checkpoints, and the removal of their rows.
import { hash } from 'node:crypto'
import {
  type BytePath,
  type CheckpointId,
  type ObjectId,
  parseCheckpointId,
  parseObjectId,
  type ProjectId,
  type SessionKey,
  type SnapshotDetails,
  type StatusWord,
} from '../model/index.js'
import type { Database, SqlRow } from '../system/index.js'
import { handOnAuthors } from './authors.js'
import { number, optional } from './rows.js'
import { bytesOfStates } from './states/index.js'

/** A checkpoint that holds files. */
export type PruningFacts = {
  readonly id: CheckpointId
  readonly name: string | null
  readonly pinned: boolean
  readonly commit: ObjectId
  readonly createdAtMs: number
  readonly session: {
    readonly key: SessionKey
    readonly status: StatusWord
    readonly updatedAtMs: number
  } | null
  /** A checkpoint of a graph thread says that these are its files. */
  readonly isOfThread: boolean
}

export type Replacement = {
  readonly tree: ObjectId
  readonly commit: ObjectId
  /** What the path had held. */
  readonly files: number
  readonly bytes: number
  readonly path: BytePath
}

export class Pruning {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  /** Newest first. */
  checkpointsOf(project: ProjectId): PruningFacts[] {
    const ofThreads = this.#filesOfThreads()
    return this.#database
      .all(
        `SELECT checkpoints.id, name, pinned, "commit", checkpoints.created_at, session, sessions.status AS session_status,
           sessions.updated_at
         FROM checkpoints LEFT JOIN sessions ON sessions.key = session
         WHERE checkpoints.project = ? AND tree IS NOT NULL ORDER BY seq DESC`,
        project,
      )
      .map((row) => factsOf(row, ofThreads))
  }

  /** When the project was last used; undefined of one that is not there. */
  touchedAtMs(project: ProjectId): number | undefined {
    const row = this.#database.get('SELECT touched_at FROM projects WHERE id = ?', project)
    return row === undefined ? undefined : number(row, 'touched_at')
  }

  /** All that rows refer to. */
  commits(): Set<string> {
    const sql = 'SELECT "commit" FROM checkpoints WHERE "commit" IS NOT NULL'
    return new Set(this.#database.all(sql).map((row) => String(row['commit'])))
  }

  /** Whether a row refers to this commit. */
  holds(commit: string): boolean {
    const sql = 'SELECT 1 FROM checkpoints WHERE "commit" = ? LIMIT 1'
    return this.#database.get(sql, commit) !== undefined
  }

  /** Bytes of the states of these sessions' checkpoints, what they share with others included. */
  stateBytes(sessions: readonly SessionKey[]): number {
    const rows = this.#database.all(
      `SELECT DISTINCT state AS id FROM checkpoints
       WHERE state IS NOT NULL AND session IN (SELECT value FROM json_each(?))`,
      JSON.stringify(sessions),
    )
    return bytesOfStates(
      this.#database,
      rows.map((row) => number(row, 'id')),
    )
  }

  /**
   * Inside a transaction. A checkpoint of a session stays without its files: its state is kept as long as the
   * session is. Rewinds that could only be undone with one of these are forgotten.
   */
  drop(ids: readonly CheckpointId[]): void {
    const list = JSON.stringify(ids)
    handOnAuthors(this.#database, ids)
    this.#database.run(
      `WITH RECURSIVE gone (id) AS (
         SELECT id FROM operations WHERE safety IN (SELECT value FROM json_each(?1))
           OR result IN (SELECT value FROM json_each(?1))
         UNION SELECT operations.id FROM operations JOIN gone ON operations.of = gone.id)
       DELETE FROM operations WHERE id IN gone`,
      list,
    )
    this.#database.run(
      `UPDATE checkpoints SET tree = NULL, "commit" = NULL, files = NULL, insertions = NULL, deletions = NULL,
         file_count = NULL, size_bytes = NULL, skipped_counts = NULL, details = NULL, authors = NULL
       WHERE session IS NOT NULL AND id IN (SELECT value FROM json_each(?))`,
      list,
    )
    this.#database.run(
      'DELETE FROM checkpoints WHERE session IS NULL AND id IN (SELECT value FROM json_each(?))',
      list,
    )
  }

  /** Inside a transaction. The checkpoint holds another snapshot from now on, which lacks `path`. */
  replaceFiles(
    id: CheckpointId,
    { tree, commit, files, bytes, path }: Replacement,
    details: SnapshotDetails | undefined,
  ): void {
    const { skippedPaths = [], repositories = [], rewind, uncaptured } = details ?? {}
    const forgotten = { path, reason: 'forgotten', sizeBytes: bytes }
    const paths = [forgotten, ...skippedPaths]
    const json = JSON.stringify({ uncaptured, skippedPaths: paths, repositories, rewind })
    const digest = hash('sha256', json, 'hex')
    this.#database.run('INSERT OR IGNORE INTO details (hash, json) VALUES (?, ?)', digest, json)
    this.#database.run(
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
    const isInUse = this.#database.get(
      `SELECT 1 FROM checkpoints WHERE project = ?1
       UNION SELECT 1 FROM sessions WHERE project = ?1 AND deleted_at IS NULL
       UNION SELECT 1 FROM operations WHERE project = ?1`,
      project,
    )
    if (isInUse !== undefined) return false
    // Of a deleted session the row stays, for its fence.
    this.#database.run('UPDATE sessions SET project = NULL WHERE project = ?', project)
    return this.#database.run('DELETE FROM projects WHERE id = ?', project).changes > 0
  }

  #filesOfThreads(): Set<string> {
    const rows = this.#database.all('SELECT files FROM graph_checkpoints WHERE files IS NOT NULL')
    return new Set(rows.map((row) => String(row['files'])))
  }
}

function factsOf(row: SqlRow, ofThreads: ReadonlySet<string>): PruningFacts {
  const status = optional(row, 'session_status')
  const id = String(row['id'])
  return {
    id: parseCheckpointId(id),
    name: optional(row, 'name'),
    pinned: number(row, 'pinned') === 1,
    commit: parseObjectId(String(row['commit'])),
    createdAtMs: number(row, 'created_at'),
    session:
      status === null
        ? null
        : {
            key: number(row, 'session'),
            status: status as StatusWord,
            updatedAtMs: number(row, 'updated_at'),
          },
    isOfThread: ofThreads.has(id),
  }
}
