// Values in the form of LangGraph's serializer. What it would lose without a word is refused here.
import { isUtf8 } from 'node:buffer'
import type { SerializerProtocol } from '@langchain/langgraph-checkpoint'
import { SavestateError, type SerialValue } from '../index.js'

/** What the serializer writes in place of a whole value if JSON.stringify throws, as it does for a BigInt. */
const GIVEN_UP = '[unable to serialize, circular reference is too complex to analyze]'

const decoder = new TextDecoder()

/** A value, and what it is for messages. */
export type Named = { readonly value: unknown; readonly what: string }

/** Where the serializer works at once, as LangGraph's does, the value is serialized before this returns. */
export async function dump(
  serde: SerializerProtocol,
  { value, what }: Named,
): Promise<SerialValue> {
  // Bytes are handed over as they are, so a copy is.
  const [type, data] = await serde.dumpsTyped(
    value instanceof Uint8Array ? new Uint8Array(value) : value,
  )
  if (type !== 'json' || !isUtf8(data)) return { type, data }
  const text = decoder.decode(data)
  if (text === '' || (text === JSON.stringify(GIVEN_UP) && value !== GIVEN_UP)) throw lost(what)
  return { type, data: text }
}

/** The text of a value as it stands in the JSON of a list. */
export async function dumpItem(serde: SerializerProtocol, { value, what }: Named): Promise<string> {
  if (typeof value === 'function' || typeof value === 'symbol') throw lost(what)
  const { data } = await dump(serde, { value: [value], what })
  if (typeof data !== 'string' || !data.startsWith('[')) throw lost(what)
  return data.slice(1, -1)
}

export async function load(
  serde: SerializerProtocol,
  { type, data }: SerialValue,
): Promise<unknown> {
  const value: unknown = await serde.loadsTyped(type, data)
  return value
}

function lost(what: string): SavestateError {
  return new SavestateError(
    'STATE_UNSTORABLE',
    `The serializer of LangGraph would lose the value of ${what}`,
    { hint: 'Functions, symbols and BigInts cannot be stored. Nothing was written.' },
  )
}
