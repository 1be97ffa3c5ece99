// Shared sessions, threads and projects on this host: what changed since the remote last confirmed, the segment that is under way, and rows that
// come from elsewhere (docs/internals/shared.md). It contacts no remote; the engine carries the segments.
import {
  type CheckpointId,
  type LogName,
  type LogPosition,
  type ObjectId,
  type PackRef,
  parseProjectId,
  type ProjectId,
  SavestateError,
  type SegmentContent,
} from '../../model/index.js'
import type { Database } from '../../system/index.js'
import { type Sealing, SealedTable } from '../ledger-table.js'
import { optional, text } from '../rows.js'
import { type ApplyRequest, type ApplyResult, applySegments } from './apply/apply-segments.js'
import { type Arrival, attachArrival, findArrivals, readArrival } from './arrivals.js'
import {
  ensureProjectLog,
  findLog,
  findOwner,
  insertLog,
  listLogs,
  requireLog,
  type SharedLog,
  toSharedLog,
} from './logs.js'
import { type EncodeSegment, forgetSent, type PreparedSegment, retractPending } from './outbox.js'
import { attachFiles, findMissingFiles, readFiles, type SharedFiles } from './checkpoint-files.js'
import {
  findNewestPack,
  findPacksToBuild,
  findStaleLogs,
  type NewestPack,
  type PackToBuild,
  recordPack,
  renewPacks,
  type StaleLog,
} from './packs.js'
import { hasHadAll } from './known-rows.js'
import { isMember } from './members.js'
import { acknowledgeSegment, prepareSegment } from './prepare.js'
import { splitTail, type SplitRequest, type SplitResult } from './split-tail.js'

/** Runs a transaction without fsync: `Ledger.transactionNoSync`. */
type Transact = <T>(work: () => T) => T

/**
 * The life of a log: `share` or `apply` begins it. Then, again and again, `packsToBuild` and `recordPack`, `prepare`, the commit on the
 * remote, and `acknowledge`. Every method is a transaction of its own.
 */
export class Sharing extends SealedTable {
  readonly #transactNoSync: Transact

  constructor(database: Database, sealing: Sealing, transactNoSync: Transact) {
    super(database, sealing)
    this.#transactNoSync = transactNoSync
  }

  /**
   * Begins to share a session, thread or project that exists here; `remote` is the id of the remote. Everything counts as changed, and the first
   * segment is a base. Does nothing if it is shared there already. Throws SESSION_UNKNOWN, and BAD_INPUT if it is on another remote.
   */
  share(log: LogName, { remote }: { readonly remote: string }): SharedLog {
    return this.database.transaction(() => {
      const known = findLog(this.database, log)
      if (known !== undefined && known.remote !== remote)
        throw new SavestateError(
          'BAD_INPUT',
          `The ${log.kind} ${JSON.stringify(log.id)} is on another remote`,
          {
            hint: 'A session is on one remote at a time. Fork it to share it on another one.',
          },
        )
      const owner = this.#ownerToShare(log)
      if (owner === undefined)
        throw new SavestateError(
          'SESSION_UNKNOWN',
          `There is no ${log.kind} ${JSON.stringify(log.id)}`,
        )
      if (known === undefined) insertLog(this.database, { kind: log.kind, owner, remote })
      return toSharedLog(requireLog(this.database, log))
    })
  }

  /** Forgets that the log is shared. Its rows stay here, and on the remote. */
  unshare(log: LogName): void {
    this.database.transaction(() => {
      const known = findLog(this.database, log)
      if (known !== undefined) this.database.run('DELETE FROM shared_logs WHERE key = ?', known.key)
    })
  }

  /** Undefined if it is not shared. */
  get(log: LogName): SharedLog | undefined {
    const found = findLog(this.database, log)
    return found === undefined ? undefined : toSharedLog(found)
  }

  /** `isDirty`: only logs with something that the remote may not have. */
  list(query: { readonly remote?: string; readonly isDirty?: boolean } = {}): SharedLog[] {
    const { remote, isDirty } = query
    return listLogs(this.database)
      .filter((log) => remote === undefined || log.remote === remote)
      .filter((log) => isDirty === undefined || log.isDirty === isDirty)
      .map(toSharedLog)
  }

  /** Remembers the fence of a lease on the remote; null forgets it. */
  rememberLease(log: LogName, fence: number | null): void {
    this.#transactNoSync(() => {
      const { key } = requireLog(this.database, log)
      this.database.run('UPDATE shared_logs SET fence = ? WHERE key = ?', fence, key)
    })
  }

  /**
   * The checkpoints with files that need a pack, oldest first, one per tree. `recordPack` records each. A checkpoint whose pack is not
   * recorded before `prepare` is sent without one, and again later.
   */
  packsToBuild(log: LogName): readonly PackToBuild[] {
    return this.#transactNoSync(() =>
      findPacksToBuild(this.database, requireLog(this.database, log)),
    )
  }

  /** The newest pack of the log whose objects are here, to build the next one on; undefined: build a full pack. */
  newestPack(log: LogName): NewestPack | undefined {
    return findNewestPack(this.database, requireLog(this.database, log))
  }

  /** Records the recipe of a pack before it is uploaded, for all checkpoints of the session with this tree. */
  recordPack(log: LogName, pack: PackRef): void {
    this.#transactNoSync(() => recordPack(this.database, requireLog(this.database, log), pack))
  }

  /** Undefined if the checkpoint has no files, or a prune has removed them. */
  filesOf(checkpoint: CheckpointId): SharedFiles | undefined {
    return readFiles(this.database, checkpoint)
  }

  /** The packs whose objects are here, kept by a checkpoint. */
  packsHere(): ReadonlySet<string> {
    const rows = this.database.all(
      `SELECT DISTINCT pack FROM shared_packs AS packs JOIN checkpoints ON id = checkpoint
       WHERE pack IS NOT NULL AND checkpoints.tree = packs.tree`,
    )
    return new Set(rows.map((row) => String(row['pack'])))
  }

  /** Shared sessions of a project whose packs may have what is removed from these checkpoints. */
  staleLogs(project: ProjectId, checkpoints: readonly CheckpointId[]): readonly StaleLog[] {
    return findStaleLogs(this.database, { project, checkpoints })
  }

  /** Inside a transaction. The next ship sends all files of these logs in new packs: no old one is needed any more. */
  renewPacks(logs: readonly StaleLog[]): void {
    for (const log of logs) renewPacks(this.database, log)
  }

  /** The checkpoints of a log whose files are on the remote only: of a session newest first, of a project oldest first. */
  missingFiles(log: LogName): readonly (SharedFiles & { readonly checkpoint: CheckpointId })[] {
    const row = requireLog(this.database, log)
    return log.kind === 'project'
      ? findArrivals(this.database, row)
      : findMissingFiles(this.database, row)
  }

  /** A checkpoint of a project that is on the remote only; undefined if there is none with this id. */
  arrival(checkpoint: CheckpointId): Arrival | undefined {
    return readArrival(this.database, checkpoint)
  }

  /** Makes it a checkpoint here, once its objects, a commit and a ref are in place (I1, I2). No-op if another process has done so. */
  attachArrival(checkpoint: CheckpointId, commit: ObjectId): void {
    this.database.transaction(() => attachArrival(this.database, checkpoint, commit))
  }

  /** The logs of the checkpoints of a project that belong to no session. */
  projectLogs(project: ProjectId): readonly LogName[] {
    const sql = `SELECT id FROM project_logs WHERE project = ?1
      UNION SELECT ?1 WHERE EXISTS (SELECT 1 FROM checkpoints WHERE project = ?1 AND session IS NULL AND project_log IS NULL)`
    return this.database.all(sql, project).map((row) => ({ kind: 'project', id: text(row, 'id') }))
  }

  /** The project here that has the checkpoints of the log of a project; null if none has. */
  projectOf({ id }: LogName): ProjectId | null {
    const row = this.database.get(
      `SELECT coalesce((SELECT project FROM project_logs WHERE id = ?1), (SELECT id FROM projects WHERE id = ?1)) AS project`,
      id,
    )
    const project = optional(row ?? {}, 'project')
    return project === null ? null : parseProjectId(project)
  }

  /**
   * Completes the row of a checkpoint, once its objects, a commit and a ref are in place (I1, I2). No-op if another process has done so.
   * Throws CHECKPOINT_UNKNOWN.
   */
  attachFiles(
    checkpoint: CheckpointId,
    files: { readonly commit: ObjectId; readonly project: ProjectId },
  ): void {
    this.database.transaction(() => attachFiles(this.database, checkpoint, files))
  }

  /** Gives a session without local files to a project, with its checkpoints. Checkpoints with local files stay in theirs. */
  setProject(session: string, project: ProjectId): void {
    this.database.transaction(() => {
      const owner = findOwner(this.database, { kind: 'session', id: session })
      if (owner === undefined) return
      this.database.run('UPDATE sessions SET project = ? WHERE key = ?', project, owner)
      const sql = 'UPDATE checkpoints SET project = ? WHERE session = ? AND tree IS NULL'
      this.database.run(sql, project, owner)
    })
  }

  /**
   * The pending segment, or else the changes since the last one, encoded and stored as the pending segment. Undefined if nothing has
   * changed, or the session was deleted here. Without fsync: if a power failure loses the pending segment, its changes count as changes
   * again. Throws KEY_MISSING or KEY_WRONG if the store is encrypted, and what `encode` throws; then nothing has changed.
   */
  prepare(log: LogName, encode: EncodeSegment): PreparedSegment | undefined {
    const store = { database: this.database, vault: this.vault }
    return this.#transactNoSync(() => prepareSegment(store, requireLog(this.database, log), encode))
  }

  /** The remote has the segment that ends at this position. No-op if it is not the pending one any more. */
  acknowledge(log: LogName, position: LogPosition): void {
    const store = { database: this.database, vault: this.vault }
    this.#transactNoSync(() => acknowledgeSegment(store, requireLog(this.database, log), position))
  }

  /**
   * The remote certainly never got the pending segment, and never will (a conflict, or a missing pack): its changes count as changes
   * again, and `prepare` encodes another segment.
   */
  retract(log: LogName): void {
    this.#transactNoSync(() => retractPending(this.database, requireLog(this.database, log).key))
  }

  /**
   * Sends everything again: the next segment is a base after this position of the remote. For a log that was compacted or set back there
   * while its lease was ours. Numbers continue, so that none is used twice.
   */
  restart(log: LogName, { nextN, epoch, hash }: LogPosition): void {
    this.#transactNoSync(() => {
      const known = requireLog(this.database, log)
      const { key } = known
      forgetSent(this.database, key)
      this.database.run(
        `UPDATE shared_packs SET is_shared = 0 WHERE is_local = 1
           AND checkpoint IN (SELECT id FROM checkpoints AS it WHERE ${isMember(known, 'it')})`,
        known.owner,
      )
      // Steps that the remote had may be lost there: a divergence must not take them for shared.
      const sql = `UPDATE shared_logs SET needs_base = 1, next_step = 0, next_n = ?, epoch = ?, hash = ? WHERE key = ?`
      this.database.run(sql, nextN, epoch, hash, key)
    })
  }

  /**
   * Takes over segments of the remote, in one transaction; creates the session or thread if there is none. Rows that were changed here
   * and not sent yet stay as they are, and are sent later. Applying the same segments again changes nothing. A pending segment must be
   * acknowledged or retracted before.
   *
   * Throws BAD_INPUT for segments that are not valid, REMOTE_WENT_BACK if they do not follow the position of the log, SESSION_DELETED,
   * KEY_MISSING, KEY_WRONG.
   */
  apply(log: LogName, request: ApplyRequest): ApplyResult {
    const store = { database: this.database, vault: this.vault, transact: this.#transactNoSync }
    return applySegments(store, log, request)
  }

  /** Whether a session here had every row of these segments, which are all of its log: no other host has written it since. */
  hasHadAll({ id }: LogName, segments: readonly SegmentContent[]): boolean {
    const owner = findOwner(this.database, { kind: 'session', id })
    const { database, vault } = this
    return owner !== undefined && hasHadAll({ database, vault, owner }, segments)
  }

  /**
   * Moves what only this host has of a session to a fork, and sets the session back to what its remote last had. Then apply all segments
   * of the log, from its first one. Throws SESSION_UNKNOWN, and BAD_INPUT if the fork exists.
   */
  splitTail(log: LogName, request: SplitRequest): SplitResult {
    const store = { database: this.database, vault: this.vault }
    return this.database.transaction(() => splitTail(store, log, request))
  }

  #ownerToShare(log: LogName): number | undefined {
    const project = log.kind === 'project' ? this.projectOf(log) : null
    if (project !== null) ensureProjectLog(this.database, log.id, project)
    return findOwner(this.database, log)
  }
}
