// Converts rows of graph threads to types and back.
import { invariant, parseStateId, type StateId } from '../../model/index.js'
import type { SqlRow } from '../../system/index.js'
import { number, optional, text } from '../rows.js'
import {
  graphContext,
  openText,
  type SealContext,
  type SealingKey,
  type Vault,
  writeContext,
} from '../encryption/index.js'

export type ThreadKey = number

export type GraphPlace = { readonly thread: string; readonly ns: string; readonly id: string }

/** A value as the framework's serializer wrote it: JSON is text, any other type is bytes. */
export type SerialValue = { readonly type: string; readonly data: string | Uint8Array }

export type GraphWrite = {
  readonly task: string
  /** Negative for a write that replaces an earlier one with the same index. */
  readonly idx: number
  readonly channel: string
  readonly value: SerialValue
}

export type GraphCheckpoint = GraphPlace & {
  readonly parent: string | null
  /** The checkpoint as JSON, without the values of its channels. */
  readonly facts: string
  readonly metadata: SerialValue
  readonly run: string | null
  /** The id of the Savestate checkpoint of the project's files. */
  readonly files: string | null
  /** The channels whose value is computed from the writes of earlier checkpoints. */
  readonly deltas: readonly string[]
  /** The channel whose value in this checkpoint is the list of writes to the parent. */
  readonly sends: string | null
}

export type StoredGraphCheckpoint = GraphCheckpoint & {
  readonly key: ThreadKey
  readonly state: StateId
}

export type ThreadRow = {
  readonly key: ThreadKey
  readonly isDeleted: boolean
  readonly deletedTo: string | null
}

/** `row` is a row of `graph_checkpoints` joined with `thread_id`. */
export function toGraphCheckpoint(row: SqlRow, vault: Vault): StoredGraphCheckpoint {
  const deltas = optional(row, 'deltas')
  const place = { ns: text(row, 'ns'), id: text(row, 'id') }
  return {
    ...toGraphPlace(row),
    key: number(row, 'thread'),
    parent: optionalName(row, 'parent'),
    state: parseStateId(number(row, 'state')),
    facts: openText(vault, text(row, 'facts'), graphContext('facts', place)),
    metadata: openSerial(vault, {
      stored: { type: text(row, 'metadata_type'), data: dataOf(row, 'metadata') },
      context: graphContext('metadata', place),
    }),
    run: optionalName(row, 'run'),
    files: optional(row, 'files'),
    deltas: deltas === null ? [] : (JSON.parse(deltas) as string[]),
    sends: optionalName(row, 'sends'),
  }
}

export function toGraphPlace(row: SqlRow): GraphPlace {
  return { thread: nameOf(row, 'thread_id'), ns: nameOf(row, 'ns'), id: nameOf(row, 'id') }
}

export function toGraphWrite(row: SqlRow, vault: Vault): GraphWrite {
  return {
    task: nameOf(row, 'task'),
    idx: number(row, 'idx'),
    channel: nameOf(row, 'channel'),
    value: openSerial(vault, {
      stored: { type: text(row, 'type'), data: dataOf(row, 'value') },
      context: contextOfWrite(row),
    }),
  }
}

export function toThreadRow(row: SqlRow): ThreadRow {
  return {
    key: number(row, 'key'),
    isDeleted: row['deleted_at'] !== null,
    deletedTo: optionalName(row, 'deleted_to'),
  }
}

/** SQLite would cut a name at NUL and make all lone surrogates equal. Such a name is stored as JSON, which starts with '"'. */
export function encodeName(name: string): string {
  const isOdd = name.startsWith('"') || name.includes('\0') || !isWellFormed(name)
  return isOdd ? JSON.stringify(name) : name
}

function nameOf(row: SqlRow, column: string): string {
  const stored = text(row, column)
  return stored.startsWith('"') ? (JSON.parse(stored) as string) : stored
}

function optionalName(row: SqlRow, column: string): string | null {
  return row[column] === null ? null : nameOf(row, column)
}

/** False for a high surrogate without a low one after it, or a low one without a high one before it. */
function isWellFormed(name: string): boolean {
  return !/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/.test(name)
}

/** `row` is a row of `graph_writes`. */
export function contextOfWrite(row: SqlRow): SealContext {
  return writeContext({
    ns: text(row, 'ns'),
    checkpoint: text(row, 'checkpoint'),
    task: text(row, 'task'),
    idx: number(row, 'idx'),
  })
}

export function dataOf(row: SqlRow, column: string): string | Uint8Array {
  const data = row[column]
  invariant(
    typeof data === 'string' || data instanceof Uint8Array,
    `the column ${column} holds text or bytes`,
  )
  return data
}

/** Stored as the type of a sealed value, whose own type is sealed too. A type that starts with the mark is stored with a second one. */
const MARK = '~'
const SEALED = '~sealed'

/** Without a key, only escapes the type. */
export function sealSerial(
  { type, data }: SerialValue,
  { key, context }: { readonly key: SealingKey | undefined; readonly context: SealContext },
): SerialValue {
  if (key === undefined) return { type: type.startsWith(MARK) ? `${MARK}${type}` : type, data }
  const content =
    typeof data === 'string' ? [type, data] : [type, null, Buffer.from(data).toString('base64')]
  return { type: SEALED, data: key.seal(JSON.stringify(content), context) }
}

export function openSerial(
  vault: Vault,
  {
    stored: { type, data },
    context,
  }: { readonly stored: SerialValue; readonly context: SealContext },
): SerialValue {
  if (type !== SEALED) return { type: type.startsWith(MARK) ? type.slice(MARK.length) : type, data }
  const opened = openText(vault, String(data), context)
  const [name, content, bytes] = JSON.parse(opened) as [string, string | null, string?]
  return { type: name, data: content ?? Buffer.from(bytes ?? '', 'base64') }
}
