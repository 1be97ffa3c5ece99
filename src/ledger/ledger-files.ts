// The paths of the ledger's files in the store.
import { join } from 'node:path'

type LedgerFiles = {
  readonly ledger: string
  readonly log: string
  readonly shared: string
  /** The ledger that a repair writes, until it replaces the old one. */
  readonly rescued: string
  readonly backup: string
  /** The ledger that a rekey writes, until it replaces the old one. */
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
