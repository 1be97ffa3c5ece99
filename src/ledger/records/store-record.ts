// The store's row about itself: when it was pruned, and the results of prunes and repairs.
import { optional } from '../rows.js'
import { LedgerTable } from '../ledger-table.js'

/** Times are in milliseconds; the others are JSON. */
type Values = {
  readonly pruned_at: number
  /** When a process last took on an automatic prune. */
  readonly prune_claimed_at: number
  /** Totals of the automatic prunes since the last report to the user. */
  readonly auto_prune: string
  /** The projects that keep the store above its limit. */
  readonly above_limit: string
}

export class StoreRecord extends LedgerTable {
  time(column: 'pruned_at' | 'prune_claimed_at'): number | undefined {
    const value = this.database.get(`SELECT ${column} FROM store`)?.[column]
    return typeof value === 'number' ? value : undefined
  }

  json(column: 'auto_prune' | 'above_limit'): string | undefined {
    return optional(this.database.get(`SELECT ${column} FROM store`) ?? {}, column) ?? undefined
  }

  set<Column extends keyof Values>(column: Column, value: Values[Column]): void {
    this.database.run(`UPDATE store SET ${column} = ?`, value)
  }

  /** Whether a repair lost rows. If so, refs may lead to checkpoints that have no row. */
  get hasLostRows(): boolean {
    return this.database.get('SELECT 1 FROM store WHERE has_lost_rows') !== undefined
  }

  setLostRows(hasLostRows: boolean): void {
    this.database.run('UPDATE store SET has_lost_rows = ?', hasLostRows ? 1 : 0)
  }
}
