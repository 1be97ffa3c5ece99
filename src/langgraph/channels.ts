// Serializes the values of channels. A list is stored as the JSON texts of its items, so that a list that grew costs only the new items.
// Values that have not changed since they were last serialized are not serialized again.
import { types } from 'node:util'
import type { SerializerProtocol } from '@langchain/langgraph-checkpoint'
import { type ChannelValues, type GraphPlace, SavestateError, type SerialValue } from '../index.js'
import {
  isObject,
  isUnchanged,
  type RecordedItem,
  RecordedList,
  recordShape,
} from '../base/index.js'
import { dump, dumpItem, load } from './serial.js'

/** Beyond these limits, the least recently used thread is forgotten. */
const MAX_THREADS = 200
const MAX_ITEMS = 50_000

/** The items of a list with their JSON texts. */
type Texts = RecordedList<string>
type KnownText = RecordedItem<string>

type Channel = { readonly name: string; readonly value: unknown; readonly known: Texts }

export class Channels {
  /** LangGraph's own serializer, which writes the JSON of a list as the JSON of its items. */
  readonly #default: SerializerProtocol | undefined
  /** By thread and namespace, then by channel. A value that is not a list is one item. */
  readonly #recent = new Map<string, Map<string, Texts>>()
  /** Finds objects that moved within their list, or that were just read. */
  readonly #byObject = new WeakMap<object, KnownText>()

  constructor(defaultSerde: SerializerProtocol | undefined) {
    this.#default = defaultSerde
  }

  /** Returns the stored forms. Reads all values before it returns its promise. */
  async dump(
    serde: SerializerProtocol,
    { place, values }: { readonly place: GraphPlace; readonly values: ChannelValues },
  ): Promise<ChannelValues> {
    const channels = this.#use(JSON.stringify([place.thread, place.ns]), values)
    const stored = [...values].map(async ([name, value]) => {
      const known = channels.get(name) ?? new RecordedList()
      return [name, await this.#dumpChannel(serde, { name, value, known })] as const
    })
    return new Map(await Promise.all(stored))
  }

  /** With `willBePut`, records the shape of the value, because it will probably be put again. */
  async load(
    serde: SerializerProtocol,
    { stored, willBePut }: { readonly stored: unknown; readonly willBePut: boolean },
  ): Promise<unknown> {
    if (!Array.isArray(stored)) {
      const serial = parseStored(stored)
      const value = await load(serde, serial)
      if (willBePut && typeof serial.data === 'string') this.#rememberText(value, serial.data)
      return value
    }
    const texts = stored.map(String)
    // One call for the whole list: the serializer awaits at each call.
    const list = await load(serde, { type: 'json', data: `[${texts.join(',')}]` })
    if (willBePut && Array.isArray(list)) {
      for (const [place, text] of texts.entries()) this.#rememberText(list[place], text)
    }
    return list
  }

  async #dumpChannel(serde: SerializerProtocol, channel: Channel): Promise<unknown> {
    const { name, value } = channel
    if (serde === this.#default && !(value instanceof Uint8Array)) {
      const isSplit = isList(value)
      const texts = await this.#dumpItems(serde, channel)
      return isSplit ? texts : texts[0]
    }
    const serial = await dump(serde, { value, what: `the channel ${JSON.stringify(name)}` })
    return serial.type === 'json' && typeof serial.data === 'string' ? serial.data : serial
  }

  async #dumpItems(
    serde: SerializerProtocol,
    { name, value, known }: Channel,
  ): Promise<readonly (string | undefined)[]> {
    const values = isList(value) ? value : [value]
    const { version } = known
    const what = `the channel ${JSON.stringify(name)}`
    const texts: (string | undefined)[] = []
    const dumping: Promise<KnownText>[] = []
    const changed: number[] = []
    for (let index = 0; index < values.length; index += 1) {
      const item = values[index]
      const isKnown = known.isUnchangedAt(index, item)
      texts.push(isKnown ? known.payloads[index] : undefined)
      if (isKnown) continue
      changed.push(index)
      const text = this.#unchanged(item) ?? this.#serialize(serde, { value: item, what })
      dumping.push(Promise.resolve(text))
    }
    const fresh = new Map<number, KnownText>()
    for (const [place, item] of (await Promise.all(dumping)).entries()) {
      const index = changed[place] ?? 0
      texts[index] = item.payload
      fresh.set(index, item)
    }
    // Another put of this thread may have updated the list meanwhile. Then its items are kept.
    if (known.version === version)
      update(known, { length: values.length, from: changed[0] ?? values.length, fresh })
    return texts
  }

  #unchanged(value: unknown): KnownText | undefined {
    const known = isObject(value) ? this.#byObject.get(value) : undefined
    return known?.record !== undefined && isUnchanged(known.record) ? known : undefined
  }

  async #serialize(
    serde: SerializerProtocol,
    { value, what }: { readonly value: unknown; readonly what: string },
  ): Promise<KnownText> {
    const dumping = dumpItem(serde, { value, what })
    // Record the shape now: the value may change while the serializer works.
    const record = recordOf(value)
    return this.#remember({ value, payload: await dumping, record })
  }

  #rememberText(value: unknown, text: string): void {
    if (isObject(value)) this.#remember({ value, payload: text, record: recordOf(value) })
  }

  #remember(known: KnownText): KnownText {
    if (isObject(known.value) && known.record !== undefined) this.#byObject.set(known.value, known)
    return known
  }

  /** The known texts of a thread's channels. Forgets other threads beyond the limits. */
  #use(thread: string, values: ChannelValues): ReadonlyMap<string, Texts> {
    const before = this.#recent.get(thread)
    const channels = new Map(
      [...values.keys()].map((name) => [name, before?.get(name) ?? new RecordedList<string>()]),
    )
    this.#recent.delete(thread)
    this.#recent.set(thread, channels)
    let count = 0
    let threads = 0
    for (const [other, known] of [...this.#recent].reverse()) {
      threads += 1
      for (const { length } of known.values()) count += length
      if (other !== thread && (count > MAX_ITEMS || threads > MAX_THREADS))
        this.#recent.delete(other)
    }
    return channels
  }
}

type Update = {
  readonly length: number
  /** The first index that changed. */
  readonly from: number
  readonly fresh: ReadonlyMap<number, KnownText>
}

function update(known: Texts, { length, from, fresh }: Update): void {
  if (from === length && known.length === length) return
  const items: KnownText[] = []
  for (let index = from; index < length; index += 1) {
    const item = fresh.get(index) ?? known.itemAt(index)
    if (item !== undefined) items.push(item)
  }
  known.splice(from, known.length, items)
}

function recordOf(value: unknown): KnownText['record'] {
  return isObject(value) ? recordShape(value, isOrdinary) : undefined
}

/** True if the serializer reads only the enumerable properties of the object. */
function isOrdinary(object: object): boolean {
  if (object instanceof Date) return true
  // LangChain's classes build their JSON from their properties. The toJSON of other classes may read anything.
  const toJson: unknown = Reflect.get(object, 'toJSON')
  if (typeof toJson === 'function' && Reflect.get(object, 'lc_serializable') !== true) return false
  return !(
    object instanceof Map ||
    object instanceof Set ||
    object instanceof RegExp ||
    object instanceof Error ||
    ArrayBuffer.isView(object) ||
    types.isBoxedPrimitive(object)
  )
}

/** True if its JSON is an array of the JSON of its items. */
function isList(value: unknown): value is readonly unknown[] {
  return (
    Array.isArray(value) && Object.getPrototypeOf(value) === Array.prototype && !('toJSON' in value)
  )
}

/** `stored` is not a list: JSON text, or a value that the serializer wrote as another type. */
function parseStored(stored: unknown): SerialValue {
  if (typeof stored === 'string') return { type: 'json', data: stored }
  const { type, data } = Object(stored) as Partial<SerialValue>
  if (typeof type === 'string' && (typeof data === 'string' || data instanceof Uint8Array))
    return { type, data }
  throw new SavestateError('STATE_UNREADABLE', 'A channel of a graph is stored in an unknown form')
}
