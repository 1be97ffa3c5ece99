// How each kind of row is moved to another key. Whatever holds values of callers has its mover here.
import type { Database, SqlRow } from '../../system/index.js'
import { number, optional, text } from '../rows.js'
import {
  checkpointPlace,
  graphPlace,
  openText,
  partialPlace,
  type Place,
  sessionPlace,
  toolPlace,
  type Vault,
} from '../sealing/index.js'
import { dataOf, openSerial, placeOfWrite, storedSerial } from '../thread-rows.js'
import { type Condition, either, staleSerial, staleText, type Target } from './stale.js'
import { STATE_MOVERS } from './state-movers.js'

export type Moving = {
  readonly database: Database
  readonly vault: Vault
  readonly target: Target
}

export type Mover = {
  readonly table: string
  /** What the rows are ordered by: numbers. */
  readonly order: readonly string[]
  /** Finds the rows that are not yet as they are to be. */
  stale(target: Target): Condition
  /** Throws STORE_DAMAGED for what is not what was sealed there. */
  move(moving: Moving, row: SqlRow): void
}

const toolCalls: Mover = {
  table: 'tool_calls',
  order: ['seq'],
  stale: (target) => either(staleText('args', target), staleText(`ifnull(outcome, args)`, target)),
  move(moving, row) {
    const call = { id: text(row, 'id'), idempotencyKey: text(row, 'idempotency_key') }
    const outcome = optional(row, 'outcome')
    moving.database.run(
      'UPDATE tool_calls SET args = ?, outcome = ? WHERE seq = ?',
      moved(moving, text(row, 'args'), toolPlace('args', call)),
      outcome === null ? null : moved(moving, outcome, toolPlace('outcome', call)),
      number(row, 'seq'),
    )
  },
}

const partials: Mover = {
  table: 'partials',
  order: ['call', 'number'],
  stale: (target) => staleText('value', target),
  move(moving, row) {
    const [call, place] = [number(row, 'call'), number(row, 'number')]
    moving.database.run(
      'UPDATE partials SET value = ? WHERE call = ? AND number = ?',
      moved(moving, text(row, 'value'), partialPlace(call, place)),
      call,
      place,
    )
  },
}

const sessions = metadataMover({ table: 'sessions', key: 'key', placeOf: sessionPlace })
const checkpoints = metadataMover({ table: 'checkpoints', key: 'seq', placeOf: checkpointPlace })

function metadataMover({
  table,
  key,
  placeOf,
}: {
  readonly table: 'sessions' | 'checkpoints'
  readonly key: 'key' | 'seq'
  readonly placeOf: typeof sessionPlace
}): Mover {
  return {
    table,
    order: [key],
    stale: (target) => staleText('metadata', target),
    move(moving, row) {
      moving.database.run(
        `UPDATE ${table} SET metadata = ? WHERE ${key} = ?`,
        moved(moving, text(row, 'metadata'), placeOf(text(row, 'id'))),
        number(row, key),
      )
    },
  }
}

const graphCheckpoints: Mover = {
  table: 'graph_checkpoints',
  order: ['seq'],
  stale: (target) =>
    either(
      staleText('facts', target),
      staleSerial({ type: 'metadata_type', data: 'metadata' }, target),
    ),
  move(moving, row) {
    const at = { ns: text(row, 'ns'), id: text(row, 'id') }
    const place = graphPlace('metadata', at)
    const stored = { type: text(row, 'metadata_type'), data: dataOf(row, 'metadata') }
    const metadata = openSerial(moving.vault, { stored, place })
    const { type, data } = storedSerial(metadata, { key: moving.target, place })
    moving.database.run(
      'UPDATE graph_checkpoints SET facts = ?, metadata_type = ?, metadata = ? WHERE seq = ?',
      moved(moving, text(row, 'facts'), graphPlace('facts', at)),
      type,
      data,
      number(row, 'seq'),
    )
  },
}

const graphWrites: Mover = {
  table: 'graph_writes',
  order: ['seq'],
  stale: (target) => staleSerial({ type: 'type', data: 'value' }, target),
  move(moving, row) {
    const place = placeOfWrite(row)
    const stored = { type: text(row, 'type'), data: dataOf(row, 'value') }
    const value = openSerial(moving.vault, { stored, place })
    const { type, data } = storedSerial(value, { key: moving.target, place })
    moving.database.run(
      'UPDATE graph_writes SET type = ?, value = ? WHERE seq = ?',
      type,
      data,
      number(row, 'seq'),
    )
  },
}

function moved({ vault, target }: Moving, stored: string, place: Place): string {
  const plain = openText(vault, stored, place)
  return target === undefined ? plain : target.seal(plain, place)
}

export const MOVERS: readonly Mover[] = [
  ...STATE_MOVERS,
  toolCalls,
  partials,
  sessions,
  checkpoints,
  graphCheckpoints,
  graphWrites,
]
