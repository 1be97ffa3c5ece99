// The base classes of the parts of a `Ledger`. Each part owns some tables or columns.
import type { Database } from '../system/index.js'
import type { Vault } from './encryption/index.js'

export abstract class LedgerTable {
  protected readonly database: Database

  constructor(database: Database) {
    this.database = database
  }
}

/** For tables with sealed columns. */
export abstract class SealedTable extends LedgerTable {
  protected readonly vault: Vault

  constructor(database: Database, vault: Vault) {
    super(database)
    this.vault = vault
  }
}
