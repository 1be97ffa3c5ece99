// The columns outside of states that hold callers' values, and how their text is sealed and opened.
import { SavestateError, SealedValue } from '../../model/index.js'
import type { SqlRow } from '../../system/index.js'
import { isSealed, keyIdOf, type SealContext } from './sealing-key.js'
import type { Vault } from './vault.js'

/**
 * The columns of the same row that a sealed value is bound to. Forks and copied threads copy rows in SQL, and a copy must stay
 * readable, so these are only columns that the copy and the original share.
 */
const BOUND_TO = {
  'tool_calls.args': ['id', 'idempotency_key'],
  'tool_calls.outcome': ['id', 'idempotency_key'],
  'partials.value': ['call', 'number'],
  'sessions.metadata': ['id'],
  'checkpoints.metadata': ['id'],
  'graph_checkpoints.facts': ['ns', 'id'],
  'graph_checkpoints.metadata': ['ns', 'id'],
  'graph_writes.value': ['ns', 'checkpoint', 'task', 'idx'],
  'shared_outbox.body': ['log', 'n'],
} as const

export type SealedColumn = keyof typeof BOUND_TO

export const SEALED_COLUMNS = Object.keys(BOUND_TO) as readonly SealedColumn[]

export function contextOf(column: SealedColumn, row: SqlRow): SealContext {
  return [column, ...BOUND_TO[column].map((key) => row[key] as string | number)]
}

/** The text of the column in the row; undefined for NULL. */
export function textOf(column: SealedColumn, row: SqlRow): string | undefined {
  const text = row[column.slice(column.indexOf('.') + 1)]
  return typeof text === 'string' ? text : undefined
}

/** Inside the transaction that writes the row, which has the text unsealed. Throws KEY_MISSING or KEY_WRONG. */
export function sealColumn(vault: Vault, column: SealedColumn, row: SqlRow): string {
  const text = textOf(column, row) ?? ''
  return vault.keyForWriting()?.seal(text, contextOf(column, row)) ?? text
}

/** Throws KEY_MISSING or KEY_WRONG, and STORE_DAMAGED if the text was altered or moved. */
export function openColumn(vault: Vault, column: SealedColumn, row: SqlRow): string {
  const text = textOf(column, row) ?? ''
  if (!isSealed(text)) return text
  const context = contextOf(column, row)
  const opened = vault.open(text, context)
  if (opened === undefined) throw damaged(context.slice(0, 2).join(' '))
  return opened
}

/** Like `openColumn`, but returns a SealedValue if it cannot open the text, so that lists need no key. */
export function openForDisplay(
  vault: Vault,
  column: SealedColumn,
  row: SqlRow,
): string | SealedValue {
  const text = textOf(column, row) ?? ''
  if (!isSealed(text)) return text
  const id = keyIdOf(text)
  if (id !== undefined && !vault.has(id)) return new SealedValue(id)
  const opened = vault.open(text, contextOf(column, row))
  return opened ?? new SealedValue(id ?? '', { isDamaged: true })
}

/** Throws KEY_MISSING, KEY_WRONG or STORE_DAMAGED for a SealedValue. */
export function refuseSealed(vault: Vault, value: unknown): void {
  if (!(value instanceof SealedValue)) return
  if (!value.isDamaged) vault.keyFor(value.keyId)
  throw damaged('metadata')
}

function damaged(what: string): SavestateError {
  return new SavestateError('STORE_DAMAGED', `An encrypted value is damaged: ${what}`, {
    hint: 'The session or checkpoint that it belongs to cannot be read. Everything else can.',
  })
}
