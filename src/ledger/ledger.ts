// What happened. A row is the commit point of everything (I2): the objects it speaks of are on disk and
// held by a ref before it is written (I1).
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import {
  type BytePath,
  type Checkpoint,
  type CheckpointId,
  type Durability,
  type ObjectId,
  type Operation,
  parseObjectId,
  type Project,
  type ProjectId,
  SavestateError,
  type SnapshotDetails,
} from '../model/index.js'
import { type Database, isBusy, isCorrupt, openDatabase } from '../system/index.js'
import { checkpointOf, detailsOf, number, operationOf, projectOf } from './rows.js'
import { migrate, refuseNewer, refuseNewerFile } from './schema.js'

export type NewProject = Project & {
  readonly createdAtMs: number
  /** The folder above, so that a vanished project can be told from an unmounted disk. */
  readonly parentDev: string
  readonly parentIno: string
}

export type ProjectSummary = {
  readonly project: Project
  readonly checkpoints: number
  readonly touchedAtMs: number
  readonly parentDev: string
  readonly parentIno: string
}

export type CheckpointQuery = {
  readonly project: ProjectId | undefined
  readonly limit: number | undefined
}

const BUSY_MS = 5000
const WAL_PAUSE_MS = 10

export class Ledger {
  readonly #database: Database

  private constructor(database: Database) {
    this.#database = database
  }

  static open(home: string, options: { readonly durability: Durability }): Ledger {
    const path = join(home, 'ledger.db')
    refuseNewerFile(path)
    const database = openDatabase(path, { timeoutMs: BUSY_MS })
    try {
      refuseNewer(database)
      useWriteAheadLog(database)
      database.exec(`PRAGMA synchronous = ${options.durability === 'fsync' ? 'FULL' : 'NORMAL'}`)
      database.exec('PRAGMA foreign_keys = ON')
      migrate(database)
      return new Ledger(database)
    } catch (error) {
      database.close()
      if (!isCorrupt(error)) throw error
      throw new SavestateError('STORE_DAMAGED', 'The ledger of the store is damaged', {
        hint: 'The files of every checkpoint are still in objects.git, an ordinary git repository.',
        cause: error,
      })
    }
  }

  projectAt(path: BytePath): Project | undefined {
    const row = this.#database.get(
      'SELECT * FROM projects WHERE path = ?',
      Buffer.from(path, 'latin1'),
    )
    return row === undefined ? undefined : projectOf(row)
  }

  /** The project of this path, made if there is none; two processes may ask at once. */
  ensureProject({ id, path, createdAtMs, parentDev, parentIno }: NewProject): Project {
    return this.#database.transaction(() => {
      const known = this.projectAt(path)
      if (known !== undefined) return known
      this.#database.run(
        'INSERT INTO projects (id, path, created_at, touched_at, parent_dev, parent_ino) VALUES (?, ?, ?, ?, ?, ?)',
        id,
        Buffer.from(path, 'latin1'),
        createdAtMs,
        createdAtMs,
        parentDev,
        parentIno,
      )
      return { id, path }
    })
  }

  projects(): ProjectSummary[] {
    const rows = this.#database.all(
      `SELECT projects.*, (SELECT count(*) FROM checkpoints WHERE project = projects.id) AS checkpoints
       FROM projects ORDER BY touched_at DESC`,
    )
    return rows.map((row) => ({
      project: projectOf(row),
      checkpoints: number(row, 'checkpoints'),
      touchedAtMs: number(row, 'touched_at'),
      parentDev: String(row['parent_dev']),
      parentIno: String(row['parent_ino']),
    }))
  }

  project(id: ProjectId): Project | undefined {
    const row = this.#database.get('SELECT * FROM projects WHERE id = ?', id)
    return row === undefined ? undefined : projectOf(row)
  }

  addCheckpoint(checkpoint: Checkpoint, details: SnapshotDetails): void {
    this.#database.transaction(() => this.#insertCheckpoint(checkpoint, details))
  }

  /** A rewind, undo or redo with the checkpoint it led to: both or neither. */
  addOperation(
    operation: Operation,
    result: { readonly checkpoint: Checkpoint; readonly details: SnapshotDetails },
  ): void {
    this.#database.transaction(() => {
      this.#insertCheckpoint(result.checkpoint, result.details)
      this.#database.run(
        'INSERT INTO operations (id, project, kind, at, safety, result, of) VALUES (?, ?, ?, ?, ?, ?, ?)',
        operation.id,
        operation.project,
        operation.kind,
        operation.atMs,
        operation.safety,
        operation.result,
        operation.of,
      )
    })
  }

  /** Oldest first. */
  operations(project: ProjectId): Operation[] {
    return this.#database
      .all('SELECT * FROM operations WHERE project = ? ORDER BY seq', project)
      .map(operationOf)
  }

  /** Newest first. */
  checkpoints({ project, limit }: CheckpointQuery): Checkpoint[] {
    const rows =
      project === undefined
        ? this.#database.all('SELECT * FROM checkpoints ORDER BY seq DESC LIMIT ?', limit ?? -1)
        : this.#database.all(
            'SELECT * FROM checkpoints WHERE project = ? ORDER BY seq DESC LIMIT ?',
            project,
            limit ?? -1,
          )
    return rows.map(checkpointOf)
  }

  checkpoint(id: CheckpointId): Checkpoint | undefined {
    return this.#one('SELECT * FROM checkpoints WHERE id = ?', id)
  }

  details(id: CheckpointId): SnapshotDetails | undefined {
    const row = this.#database.get(
      'SELECT json FROM details JOIN checkpoints ON details = hash WHERE id = ?',
      id,
    )
    return row === undefined ? undefined : detailsOf(row)
  }

  newest(project: ProjectId): Checkpoint | undefined {
    return this.#one(
      'SELECT * FROM checkpoints WHERE project = ? ORDER BY seq DESC LIMIT 1',
      project,
    )
  }

  /** The snapshots of the newest checkpoints, newest first. */
  newestTrees(project: ProjectId): ObjectId[] {
    const rows = this.#database.all(
      'SELECT tree FROM checkpoints WHERE project = ? ORDER BY seq DESC LIMIT 50',
      project,
    )
    return rows.map((row) => parseObjectId(String(row['tree'])))
  }

  /** The checkpoint of the same project just before this one. */
  before({ id, project }: Checkpoint): Checkpoint | undefined {
    return this.#one(
      'SELECT * FROM checkpoints WHERE project = ? AND seq < (SELECT seq FROM checkpoints WHERE id = ?) ORDER BY seq DESC LIMIT 1',
      project,
      id,
    )
  }

  /** The n-th newest, from 1. */
  byNumber(project: ProjectId, n: number): Checkpoint | undefined {
    return this.#one(
      'SELECT * FROM checkpoints WHERE project = ? ORDER BY seq DESC LIMIT 1 OFFSET ?',
      project,
      n - 1,
    )
  }

  /** The newest of that name. */
  byName(project: ProjectId, name: string): Checkpoint | undefined {
    return this.#one(
      'SELECT * FROM checkpoints WHERE project = ? AND name = ? ORDER BY seq DESC LIMIT 1',
      project,
      name,
    )
  }

  /** At most two are needed to know that a prefix is not unique. */
  byPrefix(project: ProjectId, prefix: string): Checkpoint[] {
    return this.#database
      .all(
        'SELECT * FROM checkpoints WHERE project = ? AND substr(id, 1, ?) = ? LIMIT 2',
        project,
        prefix.length,
        prefix,
      )
      .map(checkpointOf)
  }

  setName(id: CheckpointId, name: string | null): void {
    this.#database.run('UPDATE checkpoints SET name = ? WHERE id = ?', name, id)
  }

  setPinned(id: CheckpointId, pinned: boolean): void {
    this.#database.run('UPDATE checkpoints SET pinned = ? WHERE id = ?', pinned ? 1 : 0, id)
  }

  /** What SQLite itself finds wrong with the file. */
  integrityProblems(): string[] {
    const rows = this.#database.all('PRAGMA integrity_check')
    return rows.map((row) => String(row['integrity_check'])).filter((line) => line !== 'ok')
  }

  close(): void {
    this.#database.close()
  }

  #one(sql: string, ...values: readonly (string | number)[]): Checkpoint | undefined {
    const row = this.#database.get(sql, ...values)
    return row === undefined ? undefined : checkpointOf(row)
  }

  #insertCheckpoint(c: Checkpoint, { skippedPaths, repositories }: SnapshotDetails): void {
    const json = JSON.stringify({ skippedPaths, repositories })
    const hash = createHash('sha256').update(json).digest('hex')
    this.#database.run('INSERT OR IGNORE INTO details (hash, json) VALUES (?, ?)', hash, json)
    this.#database.run(
      `INSERT INTO checkpoints (id, project, kind, name, reason, created_at, pinned, tree, "commit", files,
        insertions, deletions, file_count, size_bytes, skipped_counts, details)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      c.id,
      c.project,
      c.kind,
      c.name,
      c.reason,
      c.createdAtMs,
      c.pinned ? 1 : 0,
      c.snapshot.tree,
      c.commit,
      c.changes.files,
      c.changes.insertions,
      c.changes.deletions,
      c.snapshot.fileCount,
      c.snapshot.sizeBytes,
      JSON.stringify(c.snapshot.skippedCounts),
      hash,
    )
    this.#database.run('UPDATE projects SET touched_at = ? WHERE id = ?', c.createdAtMs, c.project)
  }
}

/** The one change that SQLite does not wait for when others have the file open: only a new store needs it. */
function useWriteAheadLog(database: Database): void {
  for (
    let attempt = 1;
    database.get('PRAGMA journal_mode')?.['journal_mode'] !== 'wal';
    attempt++
  ) {
    try {
      database.exec('PRAGMA journal_mode = WAL')
    } catch (error) {
      if (!isBusy(error) || attempt > BUSY_MS / WAL_PAUSE_MS) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAL_PAUSE_MS)
    }
  }
}
