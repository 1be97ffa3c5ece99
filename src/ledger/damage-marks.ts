// Which checkpoints cannot be read whole, and figures for a report of a fault.
import type { CheckpointId, LeaseOwner } from '../model/index.js'
import type { Database } from '../system/index.js'
import { number, text } from './rows.js'

/** The key of a mark starts so, and ends with the id of the checkpoint. */
export const DAMAGED = 'damaged:'
const AFTER_DAMAGED = 'damaged;'

export class DamageMarks {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  /** What a checkpoint that cannot be read whole lacks, as JSON. */
  damageOf(id: CheckpointId): string | undefined {
    const value = this.#database.get('SELECT value FROM facts WHERE key = ?', DAMAGED + id)?.[
      'value'
    ]
    return typeof value === 'string' ? value : undefined
  }

  damaged(): ReadonlyMap<string, string> {
    const rows = this.#database.all(
      'SELECT key, value FROM facts WHERE key >= ? AND key < ?',
      DAMAGED,
      AFTER_DAMAGED,
    )
    return new Map(
      rows.map((row) => [String(row['key']).slice(DAMAGED.length), String(row['value'])]),
    )
  }

  /** Marks these, and takes the mark off all others. */
  markDamaged(marks: ReadonlyMap<string, string>): void {
    this.#database.transaction(() => {
      this.#database.run('DELETE FROM facts WHERE key >= ? AND key < ?', DAMAGED, AFTER_DAMAGED)
      for (const [id, value] of marks)
        this.#database.run('INSERT INTO facts (key, value) VALUES (?, ?)', DAMAGED + id, value)
    })
  }

  counts(): Record<'projects' | 'sessions' | 'checkpoints' | 'damaged', number> {
    const row = this.#database.get(
      `SELECT (SELECT count(*) FROM projects) AS projects,
         (SELECT count(*) FROM sessions WHERE deleted_at IS NULL) AS sessions,
         (SELECT count(*) FROM checkpoints) AS checkpoints,
         (SELECT count(*) FROM facts WHERE key >= ? AND key < ?) AS damaged`,
      DAMAGED,
      AFTER_DAMAGED,
    )
    const count = (column: string) => number(row ?? {}, column)
    return {
      projects: count('projects'),
      sessions: count('sessions'),
      checkpoints: count('checkpoints'),
      damaged: count('damaged'),
    }
  }

  /** Of every session that somebody has the right to write. */
  leases(): { readonly owner: LeaseOwner }[] {
    return this.#database
      .all('SELECT lease_owner FROM sessions WHERE lease_owner IS NOT NULL AND deleted_at IS NULL')
      .map((row) => ({ owner: JSON.parse(text(row, 'lease_owner')) as LeaseOwner }))
  }
}
