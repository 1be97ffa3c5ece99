// The paths of the ledger's files in the store.
import { join } from 'node:path'

export function ledgerFiles(home: string) {
  const ledger = join(home, 'ledger.db')
  return {
    ledger,
    log: `${ledger}-wal`,
    shared: `${ledger}-shm`,
    backup: `${ledger}.backup`,
    // The ledgers that a repair and a rekey write, until they replace the old one.
    rescued: `${ledger}.rescued`,
    rekeyed: `${ledger}.rekeyed`,
  } as const
}
