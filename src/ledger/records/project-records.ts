// The row of a project besides its checkpoints: its path, when it was last used, and its sizes.
import type { BytePath, ProjectId } from '../../model/index.js'
import { number, optional } from '../rows.js'
import { LedgerTable } from '../ledger-table.js'

const HOUR_MS = 3_600_000

export class ProjectRecords extends LedgerTable {
  /** When this process last saw each project touched. */
  readonly #touched = new Map<ProjectId, number>()

  /** Records that the project is in use. Writes at most once an hour. */
  touch(project: ProjectId, atMs: number): void {
    if (atMs - (this.#touched.get(project) ?? -Infinity) < HOUR_MS) return
    const row = this.database.get('SELECT touched_at FROM projects WHERE id = ?', project)
    if (row === undefined) return
    const isLongAgo = atMs - number(row, 'touched_at') >= HOUR_MS
    if (isLongAgo)
      this.database.run('UPDATE projects SET touched_at = ? WHERE id = ?', atMs, project)
    this.#touched.set(project, isLongAgo ? atMs : number(row, 'touched_at'))
  }

  /** Inside a transaction. Moves the project and all its checkpoints to another path. */
  move(
    project: ProjectId,
    to: { readonly path: BytePath; readonly parentDev: string; readonly parentIno: string },
  ): void {
    const sql = 'UPDATE projects SET path = ?, parent_dev = ?, parent_ino = ? WHERE id = ?'
    this.database.run(sql, Buffer.from(to.path, 'latin1'), to.parentDev, to.parentIno, project)
  }

  /** The last measured sizes of a project, as JSON. */
  sizes(project: ProjectId): string | undefined {
    const row = this.database.get('SELECT sizes FROM projects WHERE id = ?', project)
    return row === undefined ? undefined : (optional(row, 'sizes') ?? undefined)
  }

  setSizes(project: ProjectId, json: string): void {
    this.database.run('UPDATE projects SET sizes = ? WHERE id = ?', json, project)
  }

  clearSizes(): void {
    this.database.run('UPDATE projects SET sizes = NULL WHERE sizes IS NOT NULL')
  }
}
