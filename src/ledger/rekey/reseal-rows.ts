// Seals a row with another key. Every table that holds callers' values has an entry here; rows of other tables are copied unchanged.
import { parseStateId, SavestateError } from '../../model/index.js'
import type { Database, SqlRow } from '../../system/index.js'
import { number, optional, text } from '../rows.js'
import {
  checkpointContext,
  graphContext,
  openText,
  partialContext,
  type SealContext,
  type SealingKey,
  sessionContext,
  toolContext,
  type Vault,
} from '../encryption/index.js'
import {
  bodyContext,
  elementContext,
  hashElement,
  nodeContext,
  openBody,
  openElement,
  parseBody,
  collectReferences,
  referencesText,
  SEALED,
  sealedBodyText,
  parseSeal,
  addSeal,
} from '../states/index.js'
import { dataOf, openSerial, contextOfWrite, sealSerial } from '../threads/thread-rows.js'

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

export const RESEAL: Readonly<Record<string, Reseal>> = {
  elements(row, resealing) {
    const id = number(row, 'id')
    const { form, text: plain } = openElement(resealing, row) ?? damaged(`element ${id}`)
    const { key, target } = resealing
    // A store that was encrypted later may hold the same content both sealed and unsealed. Both rows are in use and hashes are
    // unique, so one row gets spaces before its JSON, which changes its hash.
    let [content, hash] = [plain, hashElement({ form, text: plain }, { key })]
    while (target.get('SELECT 1 FROM elements WHERE hash = ?', Buffer.from(hash, 'hex'))) {
      content = ` ${content}`
      hash = hashElement({ form, text: content }, { key })
    }
    const bytes = Buffer.from(hash, 'hex')
    if (key === undefined) return { hash: bytes, form, text: content }
    const sealed = key.seal(`${form}${content}`, elementContext(id, hash))
    return { hash: bytes, form: SEALED, text: sealed }
  },

  nodes(row, { vault, key }) {
    const [id, { body }] = [number(row, 'id'), row]
    if (!(body instanceof Uint8Array)) damaged(`node ${id}`)
    const seal = parseSeal(body)
    const context = nodeContext(id)
    if (seal !== undefined && !vault.keyFor(seal.keyId).verifyTag(seal.tag, seal.packed, context))
      damaged(`node ${id}`)
    const packed = seal?.packed ?? body
    if (key === undefined) return { body: packed }
    return { body: addSeal(packed, { keyId: key.id, tag: key.computeTag(packed, context) }) }
  },

  states(row, { vault, key }) {
    const state = parseStateId(number(row, 'id'))
    const plain =
      openBody({ vault }, { state, body: text(row, 'body') }) ?? damaged(`state ${state}`)
    if (key === undefined) return { body: plain }
    const references = referencesText(collectReferences(parseBody(plain, state).root))
    const sealed = key.seal(plain, bodyContext(state, references))
    return { body: sealedBodyText({ sealed, references }) }
  },

  tool_calls(row, resealing) {
    const call = { id: text(row, 'id'), idempotencyKey: text(row, 'idempotency_key') }
    const outcome = optional(row, 'outcome')
    return {
      args: resealText(resealing, text(row, 'args'), toolContext('args', call)),
      outcome:
        outcome === null ? null : resealText(resealing, outcome, toolContext('outcome', call)),
    }
  },

  partials(row, resealing) {
    const context = partialContext(number(row, 'call'), number(row, 'number'))
    return { value: resealText(resealing, text(row, 'value'), context) }
  },

  sessions: (row, resealing) => resealMetadata(row, resealing, sessionContext),
  checkpoints: (row, resealing) => resealMetadata(row, resealing, checkpointContext),

  graph_checkpoints(row, resealing) {
    const at = { ns: text(row, 'ns'), id: text(row, 'id') }
    const context = graphContext('metadata', at)
    const stored = { type: text(row, 'metadata_type'), data: dataOf(row, 'metadata') }
    const metadata = openSerial(resealing.vault, { stored, context })
    const { type, data } = sealSerial(metadata, { key: resealing.key, context })
    const facts = resealText(resealing, text(row, 'facts'), graphContext('facts', at))
    return { facts, metadata_type: type, metadata: data }
  },

  graph_writes(row, { vault, key }) {
    const context = contextOfWrite(row)
    const stored = { type: text(row, 'type'), data: dataOf(row, 'value') }
    const { type, data } = sealSerial(openSerial(vault, { stored, context }), { key, context })
    return { type, value: data }
  },
}

function resealMetadata(row: SqlRow, resealing: Resealing, placeOf: typeof sessionContext): SqlRow {
  const metadata = optional(row, 'metadata')
  if (metadata === null) return {}
  return { metadata: resealText(resealing, metadata, placeOf(text(row, 'id'))) }
}

function resealText({ vault, key }: Resealing, stored: string, context: SealContext): string {
  const plain = openText(vault, stored, context)
  return key === undefined ? plain : key.seal(plain, context)
}

function damaged(what: string): never {
  throw new SavestateError('STORE_DAMAGED', `The ${what} is not what was written`)
}
