// Marks checkpoints that cannot be read completely, and counts rows for `doctor`.
import type { CheckpointId, LeaseOwner } from '../../model/index.js'
import { number, optional, text } from '../rows.js'
import { LedgerTable } from '../ledger-table.js'

export class DamageMarks extends LedgerTable {
  /** The parts of a checkpoint that cannot be read, as JSON. */
  damageOf(id: CheckpointId): string | undefined {
    const row = this.database.get('SELECT damage FROM checkpoints WHERE id = ?', id)
    return row === undefined ? undefined : (optional(row, 'damage') ?? undefined)
  }

  damaged(): ReadonlyMap<string, string> {
    const rows = this.database.all('SELECT id, damage FROM checkpoints WHERE damage IS NOT NULL')
    return new Map(rows.map((row) => [text(row, 'id'), text(row, 'damage')]))
  }

  /** Marks these checkpoints, and removes the mark of all others. */
  markDamaged(marks: ReadonlyMap<string, string>): void {
    this.database.transaction(() => {
      this.database.run('UPDATE checkpoints SET damage = NULL WHERE damage IS NOT NULL')
      for (const [id, value] of marks)
        this.database.run('UPDATE checkpoints SET damage = ? WHERE id = ?', value, id)
    })
  }

  counts(): Record<'projects' | 'sessions' | 'checkpoints' | 'damaged', number> {
    const row = this.database.get(
      `SELECT (SELECT count(*) FROM projects) AS projects,
         (SELECT count(*) FROM sessions WHERE deleted_at IS NULL) AS sessions,
         (SELECT count(*) FROM checkpoints) AS checkpoints,
         (SELECT count(*) FROM checkpoints WHERE damage IS NOT NULL) AS damaged`,
    )
    const count = (column: string) => number(row ?? {}, column)
    return {
      projects: count('projects'),
      sessions: count('sessions'),
      checkpoints: count('checkpoints'),
      damaged: count('damaged'),
    }
  }

  /** The leases of all sessions. */
  leases(): { readonly owner: LeaseOwner }[] {
    return this.database
      .all('SELECT lease_owner FROM sessions WHERE lease_owner IS NOT NULL AND deleted_at IS NULL')
      .map((row) => ({ owner: JSON.parse(text(row, 'lease_owner')) as LeaseOwner }))
  }
}
