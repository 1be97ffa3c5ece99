// Calls LangGraph's serializer, and rejects values that it would lose silently.
import { isUtf8 } from 'node:buffer'
import type { SerializerProtocol } from '@langchain/langgraph-checkpoint'
import { SavestateError, type SerialValue } from '../index.js'

/** The serializer writes this text instead of the whole value if JSON.stringify throws, as it does for a BigInt. */
const GIVEN_UP = '[unable to serialize, circular reference is too complex to analyze]'

const decoder = new TextDecoder()

/** A value, and its name for error messages. */
export type Named = { readonly value: unknown; readonly what: string }

/** A synchronous serializer, like LangGraph's, reads the value before this returns its promise. */
export async function dump(
  serde: SerializerProtocol,
  { value, what }: Named,
): Promise<SerialValue> {
  // The serializer returns bytes as they are, so pass a copy.
  const [type, data] = await serde.dumpsTyped(
    value instanceof Uint8Array ? new Uint8Array(value) : value,
  )
  if (type !== 'json' || !isUtf8(data)) return { type, data }
  const text = decoder.decode(data)
  if (text === '' || (text === JSON.stringify(GIVEN_UP) && value !== GIVEN_UP))
    throw unserializableError(what)
  return { type, data: text }
}

/** The text of a value in the JSON of a list. */
export async function dumpItem(serde: SerializerProtocol, { value, what }: Named): Promise<string> {
  if (typeof value === 'function' || typeof value === 'symbol') throw unserializableError(what)
  const { data } = await dump(serde, { value: [value], what })
  if (typeof data !== 'string' || !data.startsWith('[')) throw unserializableError(what)
  return data.slice(1, -1)
}

export async function load(
  serde: SerializerProtocol,
  { type, data }: SerialValue,
): Promise<unknown> {
  const value: unknown = await serde.loadsTyped(type, data)
  return value
}

function unserializableError(what: string): SavestateError {
  return new SavestateError(
    'STATE_UNSTORABLE',
    `The serializer of LangGraph would lose the value of ${what}`,
    { hint: 'Functions, symbols and BigInts cannot be stored. Nothing was written.' },
  )
}
