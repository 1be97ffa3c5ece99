// Notes of the store about itself.
import type { BytePath, CheckpointId, ProjectId } from '../model/index.js'
import type { Database } from '../system/index.js'
import { number, optional } from './rows.js'

export type Failure = {
  readonly atMs: number
  readonly operation: string
  /** The path of the project, if it was about one. */
  readonly project: string | null
  readonly code: string
  readonly message: string
}

const MAX_FAILURES = 100
const NOTE_WAIT_MS = 500
const HOUR_MS = 3_600_000

// Where imported checkpoints stand: below everything that was saved here, each second a range of its own.
const LOWEST_PLACE = -Number.MAX_SAFE_INTEGER
const PLACES_PER_SECOND = 2 ** 20
const MAX_SECOND = 2 ** 32 - 1

export class Care {
  readonly #database: Database
  /** When projects were touched, as far as was seen here: it only becomes later. */
  readonly #touched = new Map<ProjectId, number>()

  constructor(database: Database) {
    this.#database = database
  }

  /** The checkpoint that something from elsewhere has become. */
  importedAs(origin: string): string | undefined {
    const row = this.#database.get('SELECT checkpoint FROM imports WHERE origin = ?', origin)
    return row === undefined ? undefined : String(row['checkpoint'])
  }

  /** Where a checkpoint was imported from, if it was. */
  originOf(checkpoint: CheckpointId): string | undefined {
    const row = this.#database.get('SELECT origin FROM imports WHERE checkpoint = ?', checkpoint)
    return row === undefined ? undefined : String(row['origin'])
  }

  /**
   * Part of the same transaction: moves a checkpoint below all that were saved here and among those imported to
   * where its time belongs, after `after`. So it is never taken for the newest, and no number in a list changes.
   */
  placeImported(
    id: CheckpointId,
    { atMs, after }: { readonly atMs: number; readonly after: CheckpointId | null },
  ): void {
    const row = this.#database.get('SELECT seq FROM checkpoints WHERE id = ?', after)
    const previous = row === undefined ? undefined : number(row, 'seq')
    // On top of something that was saved here: it comes after that.
    if (previous !== undefined && previous >= 0) return
    const second = Math.min(MAX_SECOND, Math.max(0, Math.floor(atMs / 1000)))
    const earliest = LOWEST_PLACE + second * PLACES_PER_SECOND
    const start = Math.max(earliest, (previous ?? LOWEST_PLACE) + 1)
    const end =
      LOWEST_PLACE +
      (Math.floor((start - LOWEST_PLACE) / PLACES_PER_SECOND) + 1) * PLACES_PER_SECOND
    const taken = this.#database.get(
      'SELECT max(seq) AS seq FROM checkpoints WHERE seq >= ? AND seq < ?',
      start,
      end,
    )
    const place = typeof taken?.['seq'] === 'number' ? taken['seq'] + 1 : start
    this.#database.run('UPDATE checkpoints SET seq = ? WHERE id = ?', place, id)
  }

  /** Somebody uses the project, though nothing is added to it now. To the hour: most such calls write nothing. */
  touchProject(project: ProjectId, atMs: number): void {
    if (atMs - (this.#touched.get(project) ?? -Infinity) < HOUR_MS) return
    const row = this.#database.get('SELECT touched_at FROM projects WHERE id = ?', project)
    if (row === undefined) return
    const isLongAgo = atMs - number(row, 'touched_at') >= HOUR_MS
    if (isLongAgo)
      this.#database.run('UPDATE projects SET touched_at = ? WHERE id = ?', atMs, project)
    this.#touched.set(project, isLongAgo ? atMs : number(row, 'touched_at'))
  }

  /** Inside a transaction. The project and all its checkpoints are found at another path from now on. */
  moveProject(
    project: ProjectId,
    to: { readonly path: BytePath; readonly parentDev: string; readonly parentIno: string },
  ): void {
    this.#database.run(
      'UPDATE projects SET path = ?, parent_dev = ?, parent_ino = ? WHERE id = ?',
      Buffer.from(to.path, 'latin1'),
      to.parentDev,
      to.parentIno,
      project,
    )
  }

  /** Part of the transaction that adds the checkpoint. Anew for one that has been removed since. */
  noteImport(origin: string, checkpoint: CheckpointId, atMs: number): void {
    this.#database.run(
      'INSERT OR REPLACE INTO imports (origin, checkpoint, at) VALUES (?, ?, ?)',
      origin,
      checkpoint,
      atMs,
    )
  }

  /** Throws STORE_BUSY soon: that it was busy may be what is to be noted, and has been waited for. */
  addFailure(failure: Failure): void {
    this.#database.waitingAtMost(NOTE_WAIT_MS, () =>
      this.#database.transaction(() => this.#insertFailure(failure)),
    )
  }

  /** Newest first. */
  failures(limit: number): Failure[] {
    return this.#database
      .all('SELECT * FROM failures ORDER BY seq DESC LIMIT ?', limit)
      .map((row) => ({
        atMs: number(row, 'at'),
        operation: String(row['operation']),
        project: optional(row, 'project'),
        code: String(row['code']),
        message: String(row['message']),
      }))
  }

  fact(key: string): string | undefined {
    const row = this.#database.get('SELECT value FROM facts WHERE key = ?', key)
    return row === undefined ? undefined : String(row['value'])
  }

  /** The keys that begin so. */
  factKeys(prefix: string): readonly string[] {
    const sql = 'SELECT key FROM facts WHERE substr(key, 1, ?) = ? ORDER BY key'
    return this.#database.all(sql, prefix.length, prefix).map((row) => String(row['key']))
  }

  removeFact(key: string): void {
    this.#database.run('DELETE FROM facts WHERE key = ?', key)
  }

  /** All facts under keys that begin so. */
  removeFacts(prefix: string): void {
    const sql = 'DELETE FROM facts WHERE substr(key, 1, ?) = ?'
    this.#database.run(sql, prefix.length, prefix)
  }

  /** Facts that begin with the time they are kept until, under keys that begin so. */
  removeOutdated(prefix: string, nowMs: number): void {
    this.#database.run(
      'DELETE FROM facts WHERE substr(key, 1, ?) = ? AND CAST(value AS INTEGER) < ?',
      prefix.length,
      prefix,
      nowMs,
    )
  }

  setFact(key: string, value: string): void {
    this.#database.run('INSERT OR REPLACE INTO facts (key, value) VALUES (?, ?)', key, value)
  }

  #insertFailure({ atMs, operation, project, code, message }: Failure): void {
    this.#database.run(
      'INSERT INTO failures (at, operation, project, code, message) VALUES (?, ?, ?, ?, ?)',
      atMs,
      operation,
      project,
      code,
      message,
    )
    this.#database.run(
      'DELETE FROM failures WHERE seq <= (SELECT max(seq) FROM failures) - ?',
      MAX_FAILURES,
    )
  }
}
