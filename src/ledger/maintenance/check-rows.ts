// Looks after the rows themselves: what is wrong with them, and what can be put right without knowing the files.
import type {
  CheckpointId,
  FilesCheckpoint,
  ObjectId,
  Project,
  ProjectId,
} from '../../model/index.js'
import type { Database, SqlRow } from '../../system/index.js'
import { number, optional, text } from '../rows.js'
import { type RowFault, rowFaults } from './row-faults.js'
import { type StateFault, stateFaults } from '../states/index.js'

/** What a row says of the files, in the form it stands there. */
export type FilesRow = {
  readonly id: CheckpointId
  readonly project: ProjectId
  readonly kind: string
  readonly reason: string | null
  readonly createdAtMs: number
  readonly tree: ObjectId
  readonly commit: ObjectId
}

const LOST_DETAILS = '{"skippedPaths":[],"repositories":[]}'

export class RowChecks {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  /** What SQLite finds wrong with the file. */
  fileFaults({ quick }: { readonly quick: boolean }): string[] {
    const check = quick ? 'quick_check' : 'integrity_check'
    return this.#database
      .all(`PRAGMA file.${check}`)
      .map((row) => String(row[check]))
      .filter((line) => line !== 'ok')
  }

  rowFaults(): RowFault[] {
    return rowFaults(this.#database)
  }

  stateFaults(options: { readonly quick: boolean }): StateFault[] {
    return stateFaults(this.#database, options)
  }

  /** Checkpoints that hold these states; those of graph threads have no id of ours. */
  holdersOf(state: number): { readonly checkpoints: string[]; readonly graphs: number } {
    const rows = this.#database.all('SELECT id FROM checkpoints WHERE state = ?', state)
    const sql = 'SELECT count(*) AS count FROM graph_checkpoints WHERE state = ?'
    const graphs = number(this.#database.get(sql, state) ?? {}, 'count')
    return { checkpoints: rows.map((row) => String(row['id'])), graphs }
  }

  /** Rows that refer to a row that is not there, in words. */
  dangling(): string[] {
    const lines = this.#database
      .all('PRAGMA file.foreign_key_check')
      .map(
        (row) =>
          `a row of ${String(row['table'])} refers to a missing row of ${String(row['parent'])}`,
      )
    const heads = this.#database.all(
      `SELECT id FROM sessions WHERE deleted_at IS NULL AND head IS NOT NULL
         AND head NOT IN (SELECT id FROM checkpoints)`,
    )
    const steps = this.#database.all(
      `SELECT id FROM sessions WHERE next_step <= (SELECT max(step) FROM checkpoints WHERE session = key)`,
    )
    return [
      ...lines,
      ...heads.map((row) => `the head of session ${JSON.stringify(row['id'])} is missing`),
      ...steps.map((row) => `session ${JSON.stringify(row['id'])} would use a step twice`),
    ]
  }

  /** What every checkpoint with files says of them, damaged rows left out. */
  filesRows(): FilesRow[] {
    const rows = this.#database.all(
      `SELECT id, project, kind, reason, created_at, tree, "commit" FROM checkpoints
       WHERE tree IS NOT NULL ORDER BY seq`,
    )
    const faulty = new Set(this.rowFaults().map(({ id }) => id))
    return rows
      .filter((row) => !faulty.has(String(row['id'])))
      .map((row) => ({
        id: row['id'] as CheckpointId,
        project: row['project'] as ProjectId,
        kind: text(row, 'kind'),
        reason: optional(row, 'reason'),
        createdAtMs: number(row, 'created_at'),
        tree: row['tree'] as ObjectId,
        commit: row['commit'] as ObjectId,
      }))
  }

  setFiles(
    id: string,
    { tree, commit }: Pick<FilesCheckpoint, 'commit'> & { readonly tree: ObjectId },
  ): void {
    this.#database.run(
      'UPDATE checkpoints SET tree = ?, "commit" = ? WHERE id = ?',
      tree,
      commit,
      id,
    )
  }

  /** Takes a row out, once `keep` has what it held. */
  takeOut({ table, rowid }: Pick<RowFault, 'table' | 'rowid'>, keep: (row: SqlRow) => void): void {
    const row = this.#database.get(`SELECT * FROM ${table} WHERE rowid = ?`, rowid)
    if (row === undefined) return
    keep(row)
    this.#withoutReferences(() => this.#database.run(`DELETE FROM ${table} WHERE rowid = ?`, rowid))
    this.#database.run('UPDATE store SET has_lost_rows = 1')
  }

  /** Projects that checkpoints belong to and that have no row. */
  missingProjects(): ProjectId[] {
    return this.#database
      .all(
        `SELECT DISTINCT project FROM checkpoints
         WHERE project IS NOT NULL AND project NOT IN (SELECT id FROM projects)`,
      )
      .map((row) => row['project'] as ProjectId)
  }

  allIds(): ReadonlySet<string> {
    return new Set(this.#database.all('SELECT id FROM checkpoints').map((row) => String(row['id'])))
  }

  /** When the newest checkpoint was made; 0 if there is none. */
  newestMs(): number {
    const sql = 'SELECT coalesce(max(created_at), 0) AS newest FROM checkpoints'
    return number(this.#database.get(sql) ?? {}, 'newest')
  }

  addProject({ id, path }: Project, atMs: number): void {
    this.#database.run(
      `INSERT OR IGNORE INTO projects (id, path, created_at, touched_at, parent_dev, parent_ino)
       VALUES (?, ?, ?, ?, '', '')`,
      id,
      Buffer.from(path, 'latin1'),
      atMs,
      atMs,
    )
  }

  /** To where its time belongs, if there is room between its neighbours. */
  placeByTime(id: CheckpointId): void {
    const row = this.#database.get(
      `SELECT (SELECT max(seq) FROM checkpoints WHERE created_at <= own.created_at AND id <> own.id) AS before,
         (SELECT min(seq) FROM checkpoints WHERE created_at > own.created_at) AS after
       FROM checkpoints own WHERE id = ?`,
      id,
    )
    const [before, after] = [row?.['before'], row?.['after']]
    if (typeof after !== 'number') return
    const place = typeof before === 'number' ? before + 1 : after - 1
    if (place >= after || place < 1) return
    this.#database.run('UPDATE OR IGNORE checkpoints SET seq = ? WHERE id = ?', place, id)
  }

  /**
   * Gives every reference that leads nowhere something to lead to, or ends it. `keep` gets what has to go.
   * Sessions whose row is lost get one of another name: their states are still there.
   */
  mendReferences(options: {
    readonly atMs: number
    /** The mark of a checkpoint whose state is lost. */
    readonly stateLost: string
    readonly keep: (rows: readonly SqlRow[]) => void
  }): void {
    this.#withoutReferences(() => this.#database.transaction(() => this.#mendReferences(options)))
  }

  /** SQLite would refuse to remove what something refers to. */
  #withoutReferences(work: () => void): void {
    this.#database.exec('PRAGMA foreign_keys = OFF')
    try {
      work()
    } finally {
      this.#database.exec('PRAGMA foreign_keys = ON')
    }
  }

  #mendReferences({
    atMs,
    stateLost,
    keep,
  }: {
    readonly atMs: number
    readonly stateLost: string
    readonly keep: (rows: readonly SqlRow[]) => void
  }): void {
    const run = (sql: string, ...values: readonly (string | number)[]) =>
      this.#database.run(sql, ...values)
    const gone: SqlRow[] = []
    const drop = (table: string, condition: string) => {
      gone.push(
        ...this.#database.all(`SELECT '${table}' AS lost_from, * FROM ${table} WHERE ${condition}`),
      )
      run(`DELETE FROM ${table} WHERE ${condition}`)
    }
    run(
      `INSERT OR IGNORE INTO details (hash, json) SELECT DISTINCT details, ? FROM checkpoints
       WHERE details IS NOT NULL AND details NOT IN (SELECT hash FROM details)`,
      LOST_DETAILS,
    )
    for (const table of ['checkpoints', 'tool_calls'])
      run(
        `INSERT OR IGNORE INTO sessions (key, id, status, status_reason, created_at, updated_at)
         SELECT DISTINCT session, 'rescued-' || session, 'halted', 'its row was lost', ?, ? FROM ${table}
         WHERE session IS NOT NULL AND session NOT IN (SELECT key FROM sessions)`,
        atMs,
        atMs,
      )
    for (const table of ['graph_checkpoints', 'graph_writes'])
      run(
        `INSERT OR IGNORE INTO threads (key, id) SELECT DISTINCT thread, 'rescued-' || thread FROM ${table}
         WHERE thread NOT IN (SELECT key FROM threads)`,
      )
    run('UPDATE sessions SET project = NULL WHERE project NOT IN (SELECT id FROM projects)')
    drop('partials', 'call NOT IN (SELECT seq FROM tool_calls)')
    drop('graph_checkpoints', 'state NOT IN (SELECT id FROM states)')
    drop('checkpoints', 'project NOT IN (SELECT id FROM projects)')
    run('UPDATE checkpoints SET damage = ? WHERE state NOT IN (SELECT id FROM states)', stateLost)
    run('UPDATE checkpoints SET state = NULL WHERE state NOT IN (SELECT id FROM states)')
    drop(
      'operations',
      `safety NOT IN (SELECT id FROM checkpoints) OR result NOT IN (SELECT id FROM checkpoints)
         OR project NOT IN (SELECT id FROM projects)`,
    )
    run('UPDATE operations SET of = NULL WHERE of NOT IN (SELECT id FROM operations)')
    run(
      `UPDATE sessions SET head = (SELECT id FROM checkpoints WHERE session = key ORDER BY step DESC LIMIT 1)
       WHERE deleted_at IS NULL AND (head IS NULL OR head NOT IN (SELECT id FROM checkpoints))`,
    )
    run(
      `UPDATE sessions SET next_step = 1 + (SELECT max(step) FROM checkpoints WHERE session = key)
       WHERE next_step <= (SELECT max(step) FROM checkpoints WHERE session = key)`,
    )
    if (gone.length > 0) keep(gone)
  }

  sqliteVersion(): string {
    return text(this.#database.get('SELECT sqlite_version() AS version') ?? {}, 'version')
  }
}
