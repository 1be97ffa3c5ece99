// The names of the ledger's files in the store.
import { join } from 'node:path'

export type LedgerFiles = {
  readonly ledger: string
  readonly log: string
  readonly shared: string
  /** A ledger that a repair has made, until it replaces the old one. */
  readonly rescued: string
  readonly backup: string
  /** A ledger with another key, until it replaces the old one. */
  readonly rekeyed: string
}

export function ledgerFiles(home: string): LedgerFiles {
  const ledger = join(home, 'ledger.db')
  return {
    ledger,
    log: `${ledger}-wal`,
    shared: `${ledger}-shm`,
    rescued: `${ledger}.rescued`,
    backup: `${ledger}.backup`,
    rekeyed: `${ledger}.rekeyed`,
  }
}
