// Checks the rows of the ledger for `verify` and `doctor`, and repairs them for `repair`, without reading the files of checkpoints.
import type { CheckpointId, ObjectId, Project, ProjectId } from '../../model/index.js'
import type { SqlRow } from '../../system/index.js'
import { number, optional, text } from '../rows.js'
import { findRowFaults, type RowFault } from './row-faults.js'
import { findStateFaults, type StateFault } from '../states/index.js'
import { LedgerTable } from '../ledger-table.js'
import { FORGOTTEN_BY_REPAIR } from '../sharing/tables.js'

/** The columns of a checkpoint that describe its files. */
export type FilesRow = {
  readonly id: CheckpointId
  readonly project: ProjectId
  readonly kind: string
  readonly reason: string | null
  readonly createdAtMs: number
  readonly tree: ObjectId
  readonly commit: ObjectId
}

type ReferenceRepair = {
  readonly atMs: number
  /** The damage mark for a checkpoint whose state is lost. */
  readonly stateLost: string
  readonly keep: (rows: readonly SqlRow[]) => void
}

const LOST_DETAILS = '{"skippedPaths":[],"repositories":[]}'

export class RowChecks extends LedgerTable {
  /** SQLite's own check of the file. */
  fileFaults({ quick }: { readonly quick: boolean }): string[] {
    const check = quick ? 'quick_check' : 'integrity_check'
    return this.database
      .all(`PRAGMA file.${check}`)
      .map((row) => String(row[check]))
      .filter((line) => line !== 'ok')
  }

  rowFaults(): RowFault[] {
    return findRowFaults(this.database)
  }

  stateFaults(options: { readonly quick: boolean }): StateFault[] {
    return findStateFaults(this.database, options)
  }

  /** The checkpoints of sessions that hold this state, and how many checkpoints of graph threads do. */
  holdersOf(state: number): { readonly checkpoints: string[]; readonly graphs: number } {
    const rows = this.database.all('SELECT id FROM checkpoints WHERE state = ?', state)
    const sql = 'SELECT count(*) AS count FROM graph_checkpoints WHERE state = ?'
    const graphs = number(this.database.get(sql, state) ?? {}, 'count')
    return { checkpoints: rows.map((row) => String(row['id'])), graphs }
  }

  /** Messages about rows that refer to a missing row. */
  dangling(): string[] {
    const lines = this.database
      .all('PRAGMA file.foreign_key_check')
      .map(
        (row) =>
          `a row of ${String(row['table'])} refers to a missing row of ${String(row['parent'])}`,
      )
    const heads = this.database.all(
      `SELECT id FROM sessions WHERE deleted_at IS NULL AND head IS NOT NULL
         AND head NOT IN (SELECT id FROM checkpoints)`,
    )
    const steps = this.database.all(
      `SELECT id FROM sessions WHERE next_step <= (SELECT max(step) FROM checkpoints WHERE session = key)`,
    )
    return [
      ...lines,
      ...heads.map((row) => `the head of session ${JSON.stringify(row['id'])} is missing`),
      ...steps.map((row) => `session ${JSON.stringify(row['id'])} would use a step twice`),
    ]
  }

  /** The checkpoints with files, except damaged rows. */
  filesRows(): FilesRow[] {
    const rows = this.database.all(
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

  setFiles(id: string, { tree, commit }: Pick<FilesRow, 'commit' | 'tree'>): void {
    const sql = 'UPDATE checkpoints SET tree = ?, "commit" = ? WHERE id = ?'
    this.database.run(sql, tree, commit, id)
  }

  /** Removes a row after passing its content to `keep`. */
  removeRow(
    { table, rowid }: Pick<RowFault, 'table' | 'rowid'>,
    keep: (row: SqlRow) => void,
  ): void {
    const row = this.database.get(`SELECT * FROM ${table} WHERE rowid = ?`, rowid)
    if (row === undefined) return
    keep(row)
    this.#stopSharing()
    const sql = `DELETE FROM ${table} WHERE rowid = ?`
    this.#withoutForeignKeys(() => this.database.run(sql, rowid))
    this.database.run('UPDATE store SET has_lost_rows = 1')
  }

  /** The projects of checkpoints that have no row. */
  missingProjects(): ProjectId[] {
    return this.database
      .all(
        `SELECT DISTINCT project FROM checkpoints
         WHERE project IS NOT NULL AND project NOT IN (SELECT id FROM projects)`,
      )
      .map((row) => row['project'] as ProjectId)
  }

  allIds(): ReadonlySet<string> {
    return new Set(this.database.all('SELECT id FROM checkpoints').map((row) => String(row['id'])))
  }

  /** When the newest checkpoint was saved; 0 if there is none. */
  newestMs(): number {
    const sql = 'SELECT coalesce(max(created_at), 0) AS newest FROM checkpoints'
    return number(this.database.get(sql) ?? {}, 'newest')
  }

  addProject({ id, path }: Project, atMs: number): void {
    this.database.run(
      `INSERT OR IGNORE INTO projects (id, path, created_at, touched_at, parent_dev, parent_ino)
       VALUES (?, ?, ?, ?, '', '')`,
      id,
      Buffer.from(path, 'latin1'),
      atMs,
      atMs,
    )
  }

  /** Orders the checkpoint by its time, if there is a free number between its neighbors. */
  orderByTime(id: CheckpointId): void {
    const row = this.database.get(
      `SELECT (SELECT max(seq) FROM checkpoints WHERE created_at <= own.created_at AND id <> own.id) AS before,
         (SELECT min(seq) FROM checkpoints WHERE created_at > own.created_at) AS after
       FROM checkpoints own WHERE id = ?`,
      id,
    )
    const [before, after] = [row?.['before'], row?.['after']]
    if (typeof after !== 'number') return
    const seq = typeof before === 'number' ? before + 1 : after - 1
    if (seq >= after || seq < 1) return
    this.database.run('UPDATE OR IGNORE checkpoints SET seq = ? WHERE id = ?', seq, id)
  }

  /**
   * Repairs every reference to a missing row: recreates the missing row, clears the reference, or removes the referring row and
   * passes it to `keep`. Sessions and threads whose row is lost get a new one with another name, so that their states stay usable.
   */
  mendReferences(options: ReferenceRepair): void {
    this.#withoutForeignKeys(() => this.database.transaction(() => this.#mendReferences(options)))
  }

  /** A copy with lost rows must not replace what the remote has. The next pull finds both: it makes a fork of a session, and joins a project. */
  #stopSharing(): void {
    for (const table of FORGOTTEN_BY_REPAIR) this.database.run(`DELETE FROM ${table}`)
  }

  /** SQLite would refuse to remove a row that another one refers to. */
  #withoutForeignKeys(work: () => void): void {
    this.database.exec('PRAGMA foreign_keys = OFF')
    try {
      work()
    } finally {
      this.database.exec('PRAGMA foreign_keys = ON')
    }
  }

  #mendReferences({ atMs, stateLost, keep }: ReferenceRepair): void {
    const run = (sql: string, ...values: readonly (string | number)[]) =>
      this.database.run(sql, ...values)
    const hasFaults = this.dangling().length > 0
    if (hasFaults) this.#stopSharing()
    const removed: SqlRow[] = []
    const remove = (table: string, condition: string) => {
      const sql = `SELECT '${table}' AS lost_from, * FROM ${table} WHERE ${condition}`
      removed.push(...this.database.all(sql))
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
    run('UPDATE project_logs SET project = NULL WHERE project NOT IN (SELECT id FROM projects)')
    remove('partials', 'call NOT IN (SELECT seq FROM tool_calls)')
    remove('graph_checkpoints', 'state NOT IN (SELECT id FROM states)')
    remove('checkpoints', 'project NOT IN (SELECT id FROM projects)')
    run('UPDATE checkpoints SET damage = ? WHERE state NOT IN (SELECT id FROM states)', stateLost)
    run('UPDATE checkpoints SET state = NULL WHERE state NOT IN (SELECT id FROM states)')
    remove(
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
    run('DELETE FROM shared_packs WHERE checkpoint NOT IN (SELECT id FROM checkpoints)')
    run('UPDATE shared_packs SET details = NULL WHERE details NOT IN (SELECT hash FROM details)')
    if (removed.length > 0) keep(removed)
  }

  sqliteVersion(): string {
    return text(this.database.get('SELECT sqlite_version() AS version') ?? {}, 'version')
  }
}
