// The keys of a store: which one seals new values, and which one opens a stored value. Without a key this costs one query of an
// empty table for each transaction. A message contains the id of a key, never the key.
import { SavestateError } from '../../model/index.js'
import type { Database } from '../../system/index.js'
import { keyIdOf, type SealContext, type SealingKey } from './sealing-key.js'

/** The ids of the keys that have sealed values of the ledger. The store never holds a key itself. */
export const KEY_TABLES = `
  CREATE TABLE file.keys (
    -- Derived from the key, without revealing it.
    id TEXT PRIMARY KEY,
    -- A known text, sealed with the key: verifies the key that a caller passes.
    check_value TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    -- It seals no new values since then.
    retired_at INTEGER,
    -- 1 once a rekey has sealed every value with it. Before that, some values may not be sealed.
    seals_all INTEGER NOT NULL DEFAULT 0
  ) STRICT, WITHOUT ROWID;
`

/** `newKey` is the key to change to. Both open the values that they sealed. */
export type GivenKeys = {
  readonly key?: SealingKey | undefined
  readonly newKey?: SealingKey | undefined
}

export interface Vault {
  /**
   * Inside the transaction that writes: the key to seal its values with; undefined if the store is not encrypted.
   * Throws KEY_MISSING or KEY_WRONG if the caller did not pass the key of the store.
   */
  keyForWriting(): SealingKey | undefined
  /** Undefined if the text was altered or moved. Throws KEY_MISSING or KEY_WRONG. */
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

const CHECK_TEXT = 'savestate'
const CURRENT = 'SELECT id FROM keys WHERE retired_at IS NULL'

export class StoreVault implements Vault {
  readonly given: GivenKeys
  readonly #database: Database
  readonly #keys: ReadonlyMap<string, SealingKey>
  readonly #verified = new Set<string>()

  constructor(database: Database, given: GivenKeys = {}) {
    this.#database = database
    this.given = given
    const keys = [given.key, given.newKey].filter((key) => key !== undefined)
    this.#keys = new Map(keys.map((key) => [key.id, key]))
  }

  keyForWriting(): SealingKey | undefined {
    const id = this.#database.get(CURRENT)?.['id']
    if (typeof id === 'string') return this.#verify(this.#find(id, 'write'))
    const { key } = this.given
    if (key !== undefined) this.recordKey(key)
    return key
  }

  /** Whether new values must be sealed. */
  isInUse(): boolean {
    return this.#database.get(CURRENT) !== undefined || this.given.key !== undefined
  }

  open(sealed: string, context: SealContext): string | undefined {
    const id = keyIdOf(sealed)
    return id === undefined ? undefined : this.keyFor(id).open(sealed, context)
  }

  /** Not checked against the table of keys, which may be damaged: a value that the key opens proves that it is the right one. */
  keyFor(id: string): SealingKey {
    return this.#find(id, 'read')
  }

  has(id: string): boolean {
    return this.#keys.has(id)
  }

  /** Inside a transaction, before the first value is sealed with this key. Throws KEY_WRONG for a retired key. */
  recordKey(key: SealingKey): void {
    const row = this.#database.get('SELECT 1 FROM keys WHERE id = ?', key.id)
    if (row === undefined) {
      const sql = `INSERT INTO keys (id, check_value, created_at) VALUES (?, ?, unixepoch() * 1000)`
      this.#database.run(sql, key.id, key.seal(CHECK_TEXT, checkContext(key.id)))
    } else this.refuseRetired(key)
    this.#verify(key)
  }

  /** Throws KEY_WRONG. */
  refuseRetired({ id }: SealingKey): void {
    const row = this.#database.get('SELECT retired_at FROM keys WHERE id = ?', id)
    if (row === undefined || row['retired_at'] === null) return
    throw new SavestateError('KEY_WRONG', `The key ${id} was retired from this store`, {
      hint: 'Give the key that the store has now, or none if it is no longer encrypted.',
    })
  }

  #find(id: string, purpose: 'read' | 'write'): SealingKey {
    const key = this.#keys.get(id)
    if (key === undefined) throw missingKeyError(id, { given: [...this.#keys.keys()], purpose })
    return key
  }

  #verify(key: SealingKey): SealingKey {
    if (this.#verified.has(key.id)) return key
    const row = this.#database.get('SELECT check_value FROM keys WHERE id = ?', key.id)
    if (key.open(String(row?.['check_value']), checkContext(key.id)) !== CHECK_TEXT)
      throw new SavestateError(
        'KEY_WRONG',
        `The key ${key.id} does not match the record of it in the store`,
        { hint: 'It is another key, or the list of keys in the store is damaged.' },
      )
    this.#verified.add(key.id)
    return key
  }
}

function checkContext(id: string): SealContext {
  return ['keys', id]
}

const HOW = 'Set SAVESTATE_KEY or SAVESTATE_KEY_FILE, or give openStore({ encryption: { key } }).'

/** `given` are the ids of the keys that the caller passed. */
function missingKeyError(
  id: string,
  { given, purpose }: { readonly given: readonly string[]; readonly purpose: 'read' | 'write' },
): SavestateError {
  const what =
    purpose === 'read'
      ? `The value is encrypted with the key ${id}`
      : `The store is encrypted with the key ${id}`
  if (given.length === 0)
    return new SavestateError('KEY_MISSING', `${what}, and no key was given`, { hint: HOW })
  const other = given.length === 1 ? 'the key given is' : 'the keys given are'
  return new SavestateError('KEY_WRONG', `${what}, and ${other} ${given.join(' and ')}`, {
    hint: `Give the key ${id}. ${HOW} While keys are changed, both must be given.`,
  })
}
