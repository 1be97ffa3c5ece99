// The base classes of the parts of a `Ledger`. Each part owns some tables or columns.
import type { ClassRegistry } from '../model/index.js'
import type { Database } from '../system/index.js'
import { NO_VAULT, type Vault } from './encryption/index.js'

export abstract class LedgerTable {
  protected readonly database: Database

  constructor(database: Database) {
    this.database = database
  }
}

export type Sealing = {
  readonly vault?: Vault | undefined
  /** The classes whose instances a stored value may contain. */
  readonly classes?: ClassRegistry | undefined
}

/** For tables that hold callers' values. */
export abstract class SealedTable extends LedgerTable {
  protected readonly vault: Vault
  protected readonly classes: ClassRegistry | undefined

  constructor(database: Database, { vault = NO_VAULT, classes }: Sealing = {}) {
    super(database)
    this.vault = vault
    this.classes = classes
  }
}
