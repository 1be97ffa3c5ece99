// Converts rows of graph threads to types and back.
import { parseStateId, type StateId } from '../../model/index.js'
import type { SqlRow } from '../../system/index.js'
import { number, optional, text } from '../rows.js'
import { openColumn, type Vault } from '../encryption/index.js'

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

/** `row` is a row of `graph_checkpoints` joined with `thread_id`. */
export function toGraphCheckpoint(row: SqlRow, vault: Vault): StoredGraphCheckpoint {
  const deltas = optional(row, 'deltas')
  return {
    ...toGraphPlace(row),
    key: number(row, 'thread'),
    parent: optional(row, 'parent'),
    state: parseStateId(number(row, 'state')),
    facts: openColumn(vault, 'graph_checkpoints.facts', row),
    metadata: parseSerial(openColumn(vault, 'graph_checkpoints.metadata', row)),
    run: optional(row, 'run'),
    files: optional(row, 'files'),
    deltas: deltas === null ? [] : (JSON.parse(deltas) as string[]),
    sends: optional(row, 'sends'),
  }
}

export function toGraphPlace(row: SqlRow): GraphPlace {
  return { thread: text(row, 'thread_id'), ns: text(row, 'ns'), id: text(row, 'id') }
}

export function toGraphWrite(row: SqlRow, vault: Vault): GraphWrite {
  return {
    task: text(row, 'task'),
    idx: number(row, 'idx'),
    channel: text(row, 'channel'),
    value: parseSerial(openColumn(vault, 'graph_writes.value', row)),
  }
}

const BYTES = ';base64'

/** Like a data URL: `data:json,{"a":1}`, or `data:bytes;base64,AAEC`. */
export function serialText({ type, data }: SerialValue): string {
  const name = encodeURIComponent(type)
  if (typeof data === 'string') return `data:${name},${data}`
  return `data:${name}${BYTES},${Buffer.from(data).toString('base64')}`
}

function parseSerial(stored: string): SerialValue {
  const comma = stored.indexOf(',')
  const name = stored.slice('data:'.length, comma)
  const data = stored.slice(comma + 1)
  if (!name.endsWith(BYTES)) return { type: decodeURIComponent(name), data }
  const type = decodeURIComponent(name.slice(0, -BYTES.length))
  // Not a Buffer: the serializer would return it as one.
  return { type, data: new Uint8Array(Buffer.from(data, 'base64')) }
}
