// Every place of the ledger where values of callers stand, and how to tell in SQL which of them are not yet as they are
// to be.
import type { SqlValue } from '../../system/index.js'
import type { SealingKey } from '../sealing/index.js'

/** What all values are to be sealed with; undefined: with nothing. */
export type Target = SealingKey | undefined

export type Condition = { readonly sql: string; readonly values: readonly SqlValue[] }

/** A text, perhaps with something in front of its seal. */
export function staleText(column: string, target: Target, before = ''): Condition {
  const start = `substr(${column}, 1, ${before.length + 1})`
  if (target === undefined) return { sql: `${start} = ?`, values: [`${before}~`] }
  const prefix = before + target.prefix
  return { sql: `substr(${column}, 1, ${prefix.length}) <> ?`, values: [prefix] }
}

/** The body of a node. */
export function staleNode(target: Target): Condition {
  if (target === undefined) return { sql: `substr(body, 1, 1) = x'00'`, values: [] }
  return { sql: 'substr(body, 1, 9) <> ?', values: [Buffer.from(`00${target.id}`, 'hex')] }
}

/** A value of a framework, whose type says that it is sealed. */
export function staleSerial(
  { type, data }: { readonly type: string; readonly data: string },
  target: Target,
): Condition {
  if (target === undefined) return { sql: `${type} = '~sealed'`, values: [] }
  const { sql, values } = staleText(data, target)
  return { sql: `(${type} <> '~sealed' OR ${sql})`, values }
}

export function either(one: Condition, other: Condition): Condition {
  return { sql: `(${one.sql} OR ${other.sql})`, values: [...one.values, ...other.values] }
}
