// Seals the rows of states with another key.
import { parseStateId, SavestateError } from '../../model/index.js'
import type { Database, SqlRow } from '../../system/index.js'
import { number, text } from '../rows.js'
import type { SealingKey, Vault } from '../encryption/index.js'
import { openBody, parseBody, sealBody } from './state-body.js'
import { elementColumns, hashElement, openElement } from './tree/element-rows.js'
import { openNode, sealNode } from './tree/node-rows.js'

export type Resealing = {
  /** Opens values with their current keys. */
  readonly vault: Vault
  /** The key to seal values with; undefined leaves them unsealed. */
  readonly key: SealingKey | undefined
  /** The ledger that the rows are written to. */
  readonly target: Database
}

/** Returns the changed columns of a row. Throws STORE_DAMAGED if a value was altered or moved, KEY_MISSING, KEY_WRONG. */
type Reseal = (row: SqlRow, resealing: Resealing) => SqlRow

/** By table. */
export const RESEAL_STATES: Readonly<Record<string, Reseal>> = {
  elements(row, { vault, key, target }) {
    const id = number(row, 'id')
    const { form, text: plain } = openElement({ vault }, row) ?? damaged(`element ${id}`)
    // A store that was encrypted later may hold the same content both sealed and unsealed. Both rows are in use and hashes are
    // unique, so one row gets spaces before its JSON, which changes its hash.
    for (let content = plain; ; content = ` ${content}`) {
      const hash = hashElement({ form, text: content }, { key })
      const columns = elementColumns({ form, text: content, hash }, id, key)
      const isTaken = target.get('SELECT 1 FROM elements WHERE hash = ?', columns.hash)
      if (isTaken === undefined) return columns
    }
  },

  nodes(row, { vault, key }) {
    const [id, { body }] = [number(row, 'id'), row]
    const packed = body instanceof Uint8Array ? openNode(vault, id, body) : undefined
    return { body: sealNode(packed ?? damaged(`node ${id}`), id, key) }
  },

  states(row, { vault, key }) {
    const id = parseStateId(number(row, 'id'))
    const plain = openBody(text(row, 'body'), id, vault) ?? damaged(`state ${id}`)
    // Not parsed without a key: a malformed state must not prevent decryption.
    if (key === undefined) return { body: plain }
    return { body: sealBody(plain, { id, root: parseBody(plain, id).root, key }) }
  },
}

function damaged(what: string): never {
  throw new SavestateError('STORE_DAMAGED', `The ${what} is not what was written`)
}
