// The SQLite database of a store. A row is the commit point (I2): the objects that it refers to are on disk, and protected by a ref,
// before it is written (I1).
import {
  type BytePath,
  type Checkpoint,
  type ClassRegistry,
  type Durability,
  type Operation,
  type Project,
  type ProjectId,
  type SnapshotDetails,
} from '../model/index.js'
import { Authorship } from './checkpoints/authors.js'
import { backUpLedger, removeBackup } from './maintenance/backup.js'
import { Checkpoints } from './checkpoints/checkpoints.js'
import { type CheckedDatabase, openCheckedDatabase, readChangeMark } from './checked-database.js'
import { ProjectRecords } from './records/project-records.js'
import { Pruning } from './checkpoints/pruning.js'
import { Rekey } from './rekey/index.js'
import { DamageMarks } from './checkpoints/damage-marks.js'
import { Imports } from './records/imports.js'
import { RowChecks } from './maintenance/check-rows.js'
import { Failures, Notes, StoreRecord } from './records/store-records.js'
import { NameOwners } from './checkpoints/name-owners.js'
import { insertRow, number, toOperation, toProject } from './rows.js'
import { refuseOtherVersion } from './schema.js'
import { type GivenKeys, refuseSealed, StoreVault } from './encryption/index.js'
import { SearchRows } from './search/search-rows.js'
import { Sharing } from './sharing/index.js'
import { Sessions } from './sessions/sessions.js'
import { SessionSteps } from './sessions/session-steps.js'
import { type Sealing } from './ledger-table.js'
import { StateStore } from './states/index.js'
import { Threads } from './threads/threads.js'
import { ToolJournal } from './sessions/tool-journal.js'
import { Vacuum } from './maintenance/vacuum.js'

export type NewProject = Project & {
  readonly createdAtMs: number
  /** The parent folder: distinguishes a deleted project from an unmounted disk. */
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

export type LedgerOptions = {
  readonly durability: Durability
  readonly classes?: ClassRegistry | undefined
  readonly keys?: GivenKeys | undefined
}

/** Set before the parts of a Ledger, which need them. */
abstract class OpenedLedger {
  protected readonly home: string
  protected readonly options: LedgerOptions
  protected readonly database: CheckedDatabase
  protected readonly vault: StoreVault

  constructor(home: string, options: LedgerOptions) {
    this.home = home
    this.options = options
    this.database = openCheckedDatabase(home, options.durability)
    this.vault = new StoreVault(this.database, options.keys)
  }
}

export class Ledger extends OpenedLedger {
  readonly #sealing: Sealing = { vault: this.vault, classes: this.options.classes }
  readonly checkpoints = new Checkpoints(this.database, this.#sealing)
  readonly sessions = new Sessions(this.database, this.#sealing)
  readonly steps = new SessionSteps(this.database)
  readonly tools = new ToolJournal(this.database, this.#sealing)
  readonly states = new StateStore(this.database, this.#sealing)
  readonly threads = new Threads(this.database, this.#sealing)
  readonly imports = new Imports(this.database)
  readonly failures = new Failures(this.database)
  readonly notes = new Notes(this.database)
  readonly record = new StoreRecord(this.database)
  readonly projectRecords = new ProjectRecords(this.database)
  readonly rekey = new Rekey(this.home, this.database, this.vault)
  readonly vacuum = new Vacuum(this.database)
  readonly rowChecks = new RowChecks(this.database)
  readonly marks = new DamageMarks(this.database)
  readonly pruning = new Pruning(this.database)
  readonly authorship = new Authorship(this.database)
  readonly nameOwners = new NameOwners(this.database)
  readonly search = new SearchRows(this.database, this.#sealing)
  readonly sharing = new Sharing(this.database, this.#sealing, (work) =>
    this.transactionNoSync(work),
  )
  #isClosed = false

  static open(home: string, options: LedgerOptions): Ledger {
    return new Ledger(home, options)
  }

  /** Whether states and metadata are encrypted. */
  get isEncrypted(): boolean {
    return this.vault.isInUse()
  }

  projectAt(path: BytePath): Project | undefined {
    const sql = 'SELECT * FROM projects WHERE path = ?'
    const row = this.database.get(sql, Buffer.from(path, 'latin1'))
    return row === undefined ? undefined : toProject(row)
  }

  /** Returns the project at this path, and creates it if there is none. Two processes may call it at once. */
  ensureProject({ id, path, createdAtMs, parentDev, parentIno }: NewProject): Project {
    return this.database.transaction(() => {
      const known = this.projectAt(path)
      if (known !== undefined) return known
      const times = { created_at: createdAtMs, touched_at: createdAtMs }
      const parent = { parent_dev: parentDev, parent_ino: parentIno }
      const row = { id, path: Buffer.from(path, 'latin1'), ...times, ...parent }
      insertRow(this.database, 'projects', row)
      return { id, path }
    })
  }

  projects(): ProjectSummary[] {
    const rows = this.database.all(
      `SELECT projects.*, (SELECT count(*) FROM checkpoints WHERE project = projects.id) AS checkpoints
       FROM projects ORDER BY touched_at DESC`,
    )
    return rows.map((row) => ({
      project: toProject(row),
      checkpoints: number(row, 'checkpoints'),
      touchedAtMs: number(row, 'touched_at'),
      parentDev: String(row['parent_dev']),
      parentIno: String(row['parent_ino']),
    }))
  }

  project(id: ProjectId): Project | undefined {
    const row = this.database.get('SELECT * FROM projects WHERE id = ?', id)
    return row === undefined ? undefined : toProject(row)
  }

  /** `also` runs in the same transaction. */
  addCheckpoint(
    checkpoint: Checkpoint,
    details: SnapshotDetails,
    also: () => void = () => undefined,
  ): void {
    this.transaction(() => {
      this.checkpoints.insert(checkpoint, details)
      also()
    })
  }

  /**
   * Adds a rewind, undo or redo and its result in one transaction. `complete` runs in it too, and fills in what the caller can
   * only know there.
   */
  addOperation<Result extends Checkpoint>(
    operation: Operation,
    result: { readonly checkpoint: Result; readonly details: SnapshotDetails },
    complete: (checkpoint: Result) => Checkpoint = (checkpoint) => checkpoint,
  ): void {
    this.transaction(() => {
      this.checkpoints.insert(complete(result.checkpoint), result.details)
      const { id, project, kind, atMs: at, safety, of } = operation
      const row = { id, project, kind, at, safety, result: operation.result, of }
      insertRow(this.database, 'operations', row)
    })
  }

  /** Oldest first. */
  operations(project: ProjectId): Operation[] {
    return this.database
      .all('SELECT * FROM operations WHERE project = ? ORDER BY seq', project)
      .map(toOperation)
  }

  /** Throws KEY_MISSING, KEY_WRONG or STORE_DAMAGED for metadata that is still sealed. */
  expectOpen(metadata: unknown): void {
    refuseSealed(this.vault, metadata)
  }

  /** Differs after any write to the ledger, by this process or by another one. */
  changeMark(): string {
    return readChangeMark(this.database)
  }

  /** Never nested. */
  transaction<T>(work: () => T): T {
    return this.database.transaction(work)
  }

  /** A read transaction: all reads see the ledger as it is at the first one. Never nested. */
  view<T>(work: () => T): T {
    this.database.exec('BEGIN')
    try {
      return work()
    } finally {
      this.database.exec('COMMIT')
    }
  }

  /**
   * Like `transaction`, but without fsync, which takes most of the time of a small transaction (bench/rows/daemon.ts). The write may
   * be lost on power failure; ordering is preserved.
   */
  transactionNoSync<T>(work: () => T): T {
    if (this.options.durability !== 'fsync') return this.transaction(work)
    this.database.exec('PRAGMA file.synchronous = NORMAL')
    try {
      return this.transaction(work)
    } finally {
      this.database.exec('PRAGMA file.synchronous = FULL')
    }
  }

  /** Writes a backup beside the ledger, unless one is younger than a day. The caller holds the lock of a collection. */
  backUp(nowMs: number): void {
    backUpLedger(this.database, this.home, nowMs)
  }

  /** Call it before removing rows for the user: a backup must not keep them. The next prune writes another one. */
  removeBackup(): void {
    removeBackup(this.home)
  }

  /** Throws STORE_NEWER if a newer program has migrated the ledger since it was opened (I8). */
  refuseOtherVersion(): void {
    refuseOtherVersion(this.database)
  }

  /**
   * `tidy` merges the write-ahead log into the file even if other processes have it open, which may take some milliseconds. The last
   * process to close the file always merges it.
   */
  close({ tidy }: { readonly tidy: boolean } = { tidy: false }): void {
    if (this.#isClosed) return
    this.#isClosed = true
    // While another process reads, SQLite returns "busy" and leaves the log for later.
    if (tidy) this.database.get('PRAGMA file.wal_checkpoint(TRUNCATE)')
    this.database.close()
  }

  /** Closes the ledger without writing to its files, which a repair is about to replace. */
  abandon(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.database.abandon()
  }
}
