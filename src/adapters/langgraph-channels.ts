// The values of channels, as they are stored. A list is stored as the JSON texts of its items, so that one that has
// grown costs what is new; what did not change since it was last serialized is not serialized again.
import type { SerializerProtocol } from '@langchain/langgraph-checkpoint'
import { type ChannelValues, type GraphPlace, SavestateError, type SerialValue } from '../index.js'
import { Items, type Known } from './langgraph-items.js'
import { dump, dumpItem, load } from './langgraph-serial.js'
import { SightReader, Sights } from './langgraph-sight.js'

/** Beyond these, the thread that was used longest ago is forgotten. */
const MAX_THREADS = 200
const MAX_ITEMS = 50_000

type Channel = { readonly name: string; readonly value: unknown; readonly items: Items }

export class Channels {
  /** Of this one it is known that it makes the JSON of a list from that of its items. */
  readonly #default: SerializerProtocol | undefined
  /** By thread and namespace, then by channel; a value that is not a list is one item. */
  readonly #recent = new Map<string, Map<string, Items>>()
  /** For what moved within its list, or was just read. */
  readonly #byObject = new WeakMap<object, Known>()
  readonly #sights = new Sights()

  constructor(defaultSerde: SerializerProtocol | undefined) {
    this.#default = defaultSerde
  }

  /** The stored forms. Values are looked at before this returns, not later. */
  async dump(
    serde: SerializerProtocol,
    { place, values }: { readonly place: GraphPlace; readonly values: ChannelValues },
  ): Promise<ChannelValues> {
    const known = this.#use(JSON.stringify([place.thread, place.ns]), values)
    const stored = [...values].map(async ([name, value]) => {
      const items = known.get(name) ?? new Items()
      return [name, await this.#dumpChannel(serde, { name, value, items })] as const
    })
    return new Map(await Promise.all(stored))
  }

  /** The value of a channel. `isForUse`: it will probably be put again, so what it is made of is noted. */
  async load(
    serde: SerializerProtocol,
    { stored, isForUse }: { readonly stored: unknown; readonly isForUse: boolean },
  ): Promise<unknown> {
    if (!Array.isArray(stored)) {
      const serial = parseStored(stored)
      const value = await load(serde, serial)
      if (isForUse && typeof serial.data === 'string') this.#note(value, serial.data)
      return value
    }
    const texts = stored.map(String)
    // All at once: the serializer waits for something at each value.
    const list = await load(serde, { type: 'json', data: `[${texts.join(',')}]` })
    if (isForUse && Array.isArray(list)) {
      for (const [place, text] of texts.entries()) this.#note(list[place], text)
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
    const serial = await dump(serde, { value, what: called(name) })
    return serial.type === 'json' && typeof serial.data === 'string' ? serial.data : serial
  }

  async #dumpItems(
    serde: SerializerProtocol,
    { name, value, items }: Channel,
  ): Promise<readonly (string | undefined)[]> {
    const values = isList(value) ? value : [value]
    const texts = items.textsOf(values)
    const { version } = items
    const what = called(name)
    const dumping: Promise<readonly [number, Known]>[] = []
    for (let place = 0; place < values.length; place += 1) {
      if (texts[place] !== undefined) continue
      const item = values[place]
      const known = this.#unchanged(item) ?? this.#serialize(serde, { value: item, what })
      dumping.push(Promise.resolve(known).then((it) => [place, it] as const))
    }
    const fresh = new Map(await Promise.all(dumping))
    for (const [place, { text }] of fresh) texts[place] = text
    // Another put of this thread may have come in between; what it left is as good.
    if (items.version === version) items.update(values.length, fresh)
    return texts
  }

  #unchanged(value: unknown): Known | undefined {
    const known = isObject(value) ? this.#byObject.get(value) : undefined
    if (known?.sight === undefined) return undefined
    const { slots, shape } = known.sight
    return new SightReader(slots).isAsSeen(value, shape) ? known : undefined
  }

  async #serialize(
    serde: SerializerProtocol,
    { value, what }: { readonly value: unknown; readonly what: string },
  ): Promise<Known> {
    const dumping = dumpItem(serde, { value, what })
    const sight = this.#sights.of(value)
    return this.#know({ value, text: await dumping, sight })
  }

  #note(value: unknown, text: string): void {
    if (isObject(value)) this.#know({ value, text, sight: this.#sights.of(value) })
  }

  #know(known: Known): Known {
    if (isObject(known.value) && known.sight !== undefined) this.#byObject.set(known.value, known)
    return known
  }

  /** What is known of a thread's channels; others are forgotten if there is too much of it. */
  #use(thread: string, values: ChannelValues): ReadonlyMap<string, Items> {
    const before = this.#recent.get(thread)
    const channels = new Map(
      [...values.keys()].map((name) => [name, before?.get(name) ?? new Items()]),
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

/** What JSON makes a list of, item by item. */
function isList(value: unknown): value is readonly unknown[] {
  return (
    Array.isArray(value) && Object.getPrototypeOf(value) === Array.prototype && !('toJSON' in value)
  )
}

/** A stored value that is not a list: JSON, or what the serializer called otherwise. */
function parseStored(stored: unknown): SerialValue {
  if (typeof stored === 'string') return { type: 'json', data: stored }
  const { type, data } = Object(stored) as Partial<SerialValue>
  if (typeof type === 'string' && (typeof data === 'string' || data instanceof Uint8Array))
    return { type, data }
  throw new SavestateError('STATE_UNREADABLE', 'A channel of a graph is stored in an unknown form')
}

function called(channel: string): string {
  return `the channel ${JSON.stringify(channel)}`
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
