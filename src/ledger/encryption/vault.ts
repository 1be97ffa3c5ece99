// Seals values before they are written and opens them after they are read, if the store is encrypted. Without a key this costs
// one query of an empty table for each transaction.
import type { Database } from '../../system/index.js'
import { missingKeyError, retiredKeyError, mismatchedKeyError } from './key-errors.js'
import { keyIdOf, type SealContext, type SealingKey } from './sealing-key.js'

/** `newKey` is the one to change to. Either opens what it has sealed. */
export type GivenKeys = {
  readonly key?: SealingKey | undefined
  readonly newKey?: SealingKey | undefined
}

export interface Vault {
  /**
   * Inside the transaction that writes: what everything in it is to be sealed with. Undefined: nothing is sealed.
   * Throws KEY_MISSING or KEY_WRONG if the store is encrypted with a key that was not given.
   */
  keyForWriting(): SealingKey | undefined
  /** Undefined if it is not what was sealed for this context. Throws KEY_MISSING or KEY_WRONG. */
  open(sealed: string, context: SealContext): string | undefined
  /** Throws KEY_MISSING or KEY_WRONG. */
  keyFor(id: string): SealingKey
  has(id: string): boolean
}

/** Seals nothing. */
export const NO_VAULT: Vault = {
  keyForWriting: () => undefined,
  open: (sealed) => {
    throw missingKeyError(keyIdOf(sealed) ?? '?', { given: [], purpose: 'read' })
  },
  keyFor: (id) => {
    throw missingKeyError(id, { given: [], purpose: 'read' })
  },
  has: () => false,
}

const CHECKED = 'savestate'
const CURRENT = 'SELECT id FROM keys WHERE retired_at IS NULL'

export class StoreVault implements Vault {
  readonly given: GivenKeys
  readonly #database: Database
  readonly #keys: ReadonlyMap<string, SealingKey>
  readonly #fitting = new Set<string>()

  constructor(database: Database, given: GivenKeys = {}) {
    this.#database = database
    this.given = given
    const keys = [given.key, given.newKey].filter((key) => key !== undefined)
    this.#keys = new Map(keys.map((key) => [key.id, key]))
  }

  keyForWriting(): SealingKey | undefined {
    const id = this.#database.get(CURRENT)?.['id']
    if (typeof id === 'string') return this.#checked(this.#given(id, 'write'))
    const { key } = this.given
    if (key !== undefined) this.note(key)
    return key
  }

  /** Whether what is written now is sealed, or cannot be written for want of a key. */
  isInUse(): boolean {
    return this.#database.get(CURRENT) !== undefined || this.given.key !== undefined
  }

  open(sealed: string, context: SealContext): string | undefined {
    const id = keyIdOf(sealed)
    return id === undefined ? undefined : this.keyFor(id).open(sealed, context)
  }

  /** What it opens proves it: reading does not depend on the list of keys, which may be damaged. */
  keyFor(id: string): SealingKey {
    return this.#given(id, 'read')
  }

  has(id: string): boolean {
    return this.#keys.has(id)
  }

  /** Inside a transaction: the store has values of this key from now on. Throws KEY_WRONG for a retired one. */
  note(key: SealingKey): void {
    const row = this.#database.get('SELECT 1 FROM keys WHERE id = ?', key.id)
    if (row === undefined) {
      this.#database.run(
        `INSERT INTO keys (id, check_value, created_at) VALUES (?, ?, unixepoch() * 1000)`,
        key.id,
        key.seal(CHECKED, placeOf(key.id)),
      )
    } else this.refuseRetired(key)
    this.#checked(key)
  }

  /** Throws KEY_WRONG. */
  refuseRetired({ id }: SealingKey): void {
    const row = this.#database.get('SELECT retired_at FROM keys WHERE id = ?', id)
    if (row !== undefined && row['retired_at'] !== null) throw retiredKeyError(id)
  }

  #given(id: string, purpose: 'read' | 'write'): SealingKey {
    const key = this.#keys.get(id)
    if (key === undefined) throw missingKeyError(id, { given: [...this.#keys.keys()], purpose })
    return key
  }

  #checked(key: SealingKey): SealingKey {
    if (this.#fitting.has(key.id)) return key
    const row = this.#database.get('SELECT check_value FROM keys WHERE id = ?', key.id)
    if (key.open(String(row?.['check_value']), placeOf(key.id)) !== CHECKED)
      throw mismatchedKeyError(key.id)
    this.#fitting.add(key.id)
    return key
  }
}

function placeOf(id: string): SealContext {
  return ['keys', id]
}
