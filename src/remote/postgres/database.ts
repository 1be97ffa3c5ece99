// The tables of one schema, and how their rows are read. `sql` is written with `S.` before each table.
import { SavestateError, STATUS_WORDS, type StatusWord } from '../../model/index.js'
import { explainPostgresError, type PostgresErrorContext } from './postgres-errors.js'
import type { Queries, Query, Row } from './queries.js'
import { quoteSchema } from './schema-sql.js'

export class Database {
  readonly context: PostgresErrorContext
  readonly #queries: Queries
  readonly #prefix: string
  /** The text of each statement with the schema in it. */
  readonly #texts = new Map<string, string>()

  constructor(queries: Queries, context: PostgresErrorContext) {
    this.#queries = queries
    this.context = context
    this.#prefix = `${quoteSchema(context.schema)}.`
  }

  /** Throws SavestateErrors. */
  async query(
    sql: string,
    values: readonly unknown[] = [],
    more: Limits = {},
  ): Promise<readonly Row[]> {
    try {
      return await this.queryRaw(sql, values, more)
    } catch (error) {
      throw this.explain(error)
    }
  }

  /** Throws the errors of pg as they are, for callers that expect some. */
  queryRaw(sql: string, values: readonly unknown[], more: Limits = {}): Promise<readonly Row[]> {
    let text = this.#texts.get(sql)
    if (text === undefined) {
      text = sql.replaceAll(/\s+/g, ' ').replaceAll(/\bS\./g, this.#prefix).trim()
      this.#texts.set(sql, text)
    }
    return this.#queries.query({ text, values, ...more })
  }

  /** Several statements in one transaction. */
  async runScript(statements: readonly string[]): Promise<void> {
    try {
      await this.#queries.query({ text: statements.join(';\n') })
    } catch (error) {
      throw this.explain(error)
    }
  }

  explain(error: unknown): SavestateError {
    return explainPostgresError(error, this.context)
  }

  close(): Promise<void> {
    return this.#queries.close()
  }
}

type Limits = Pick<Query, 'answerBytes' | 'timeoutMs'>

/** bigint comes as text, unless the caller's pg parses it. */
export function numberIn(row: Row, column: string): number {
  const number = Number(row[column])
  if (row[column] !== null && Number.isSafeInteger(number)) return number
  throw unreadable(column)
}

export function textIn(row: Row, column: string, maxChars = Infinity): string {
  const value = row[column]
  if (typeof value === 'string' && value.length <= maxChars) return value
  throw unreadable(column)
}

export function textOrNullIn(row: Row, column: string, maxChars?: number): string | null {
  return row[column] === null ? null : textIn(row, column, maxChars)
}

export function bytesIn(row: Row, column: string, maxBytes = Infinity): Uint8Array {
  const value = row[column]
  if (value instanceof Uint8Array && value.length <= maxBytes) return value
  throw unreadable(column)
}

export function bytesOrNullIn(row: Row, column: string, maxBytes?: number): Uint8Array | null {
  return row[column] === null ? null : bytesIn(row, column, maxBytes)
}

export const HASH_BYTES = 32

export function hexIn(row: Row, column: string): string {
  return Buffer.from(bytesIn(row, column, HASH_BYTES)).toString('hex')
}

export function hexOrNullIn(row: Row, column: string): string | null {
  return row[column] === null ? null : hexIn(row, column)
}

export function hashBytes(hash: string | null): Buffer | null {
  return hash === null ? null : Buffer.from(hash, 'hex')
}

export function statusIn(row: Row, column: string): StatusWord {
  const status = STATUS_WORDS.find((word) => word === row[column])
  if (status !== undefined) return status
  throw unreadable(column)
}

export function unreadable(column: string): SavestateError {
  return new SavestateError(
    'STORE_DAMAGED',
    `The column ${column} of the remote has a value that Savestate did not write`,
    { hint: 'Run `savestate verify --remote`.' },
  )
}
