// Seals a row with another key. Every table with values of callers has an entry here; rows of other tables are copied as they are.
import { parseStateId, SavestateError } from '../../model/index.js'
import type { Database, SqlRow } from '../../system/index.js'
import { number, optional, text } from '../rows.js'
import {
  checkpointPlace,
  graphPlace,
  openText,
  partialPlace,
  type Place,
  type SealingKey,
  sessionPlace,
  toolPlace,
  type Vault,
} from '../encryption/index.js'
import {
  bodyPlace,
  elementPlace,
  hashOf,
  nodePlace,
  openBody,
  openElement,
  parseBody,
  referencesIn,
  referencesText,
  SEALED,
  sealedBodyText,
  sealOf,
  withSeal,
} from '../states/index.js'
import { dataOf, openSerial, placeOfWrite, storedSerial } from '../threads/thread-rows.js'

export type Resealing = {
  /** Opens values with the keys that they have now. */
  readonly vault: Vault
  /** The key to seal values with; undefined: none. */
  readonly key: SealingKey | undefined
  /** The ledger that the rows are written to. */
  readonly target: Database
}

/** The changed columns of a row. Throws STORE_DAMAGED if a value is not the one that was sealed there, KEY_MISSING, KEY_WRONG. */
type Reseal = (row: SqlRow, resealing: Resealing) => SqlRow

export const RESEAL: Readonly<Record<string, Reseal>> = {
  elements(row, resealing) {
    const id = number(row, 'id')
    const { form, text: plain } = openElement(resealing, row) ?? damaged(`element ${id}`)
    const { key, target } = resealing
    // A store that got its key later may have the same content sealed and unsealed. Both are in use, so one gets blanks before its
    // JSON, and with it another hash.
    let [content, hash] = [plain, hashOf({ form, text: plain }, { key })]
    while (target.get('SELECT 1 FROM elements WHERE hash = ?', Buffer.from(hash, 'hex'))) {
      content = ` ${content}`
      hash = hashOf({ form, text: content }, { key })
    }
    const bytes = Buffer.from(hash, 'hex')
    if (key === undefined) return { hash: bytes, form, text: content }
    const sealed = key.seal(`${form}${content}`, elementPlace(id, hash))
    return { hash: bytes, form: SEALED, text: sealed }
  },

  nodes(row, { vault, key }) {
    const [id, { body }] = [number(row, 'id'), row]
    if (!(body instanceof Uint8Array)) damaged(`node ${id}`)
    const seal = sealOf(body)
    const place = nodePlace(id)
    if (seal !== undefined && !vault.keyFor(seal.keyId).isTagOf(seal.tag, seal.packed, place))
      damaged(`node ${id}`)
    const packed = seal?.packed ?? body
    if (key === undefined) return { body: packed }
    return { body: withSeal(packed, { keyId: key.id, tag: key.tagOf(packed, place) }) }
  },

  states(row, { vault, key }) {
    const state = parseStateId(number(row, 'id'))
    const plain =
      openBody({ vault }, { state, body: text(row, 'body') }) ?? damaged(`state ${state}`)
    if (key === undefined) return { body: plain }
    const references = referencesText(referencesIn(parseBody(plain, state).root))
    const sealed = key.seal(plain, bodyPlace(state, references))
    return { body: sealedBodyText({ sealed, references }) }
  },

  tool_calls(row, resealing) {
    const call = { id: text(row, 'id'), idempotencyKey: text(row, 'idempotency_key') }
    const outcome = optional(row, 'outcome')
    return {
      args: resealText(resealing, text(row, 'args'), toolPlace('args', call)),
      outcome: outcome === null ? null : resealText(resealing, outcome, toolPlace('outcome', call)),
    }
  },

  partials(row, resealing) {
    const place = partialPlace(number(row, 'call'), number(row, 'number'))
    return { value: resealText(resealing, text(row, 'value'), place) }
  },

  sessions: (row, resealing) => resealMetadata(row, resealing, sessionPlace),
  checkpoints: (row, resealing) => resealMetadata(row, resealing, checkpointPlace),

  graph_checkpoints(row, resealing) {
    const at = { ns: text(row, 'ns'), id: text(row, 'id') }
    const place = graphPlace('metadata', at)
    const stored = { type: text(row, 'metadata_type'), data: dataOf(row, 'metadata') }
    const metadata = openSerial(resealing.vault, { stored, place })
    const { type, data } = storedSerial(metadata, { key: resealing.key, place })
    const facts = resealText(resealing, text(row, 'facts'), graphPlace('facts', at))
    return { facts, metadata_type: type, metadata: data }
  },

  graph_writes(row, { vault, key }) {
    const place = placeOfWrite(row)
    const stored = { type: text(row, 'type'), data: dataOf(row, 'value') }
    const { type, data } = storedSerial(openSerial(vault, { stored, place }), { key, place })
    return { type, value: data }
  },
}

function resealMetadata(row: SqlRow, resealing: Resealing, placeOf: typeof sessionPlace): SqlRow {
  const metadata = optional(row, 'metadata')
  if (metadata === null) return {}
  return { metadata: resealText(resealing, metadata, placeOf(text(row, 'id'))) }
}

function resealText({ vault, key }: Resealing, stored: string, place: Place): string {
  const plain = openText(vault, stored, place)
  return key === undefined ? plain : key.seal(plain, place)
}

function damaged(what: string): never {
  throw new SavestateError('STORE_DAMAGED', `The ${what} is not what was written`)
}
