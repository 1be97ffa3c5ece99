// Threads of a graph framework, which makes and names its checkpoints itself. The values of their channels are stored as
// differences between states. Each put is one transaction (I2).
import {
  type GraphCheckpoint,
  type GraphPlace,
  type GraphWrite,
  StateMemory,
  type StoredGraphCheckpoint,
} from '../../ledger/index.js'
import type { StateId } from '../../model/index.js'
import type { StoreContext } from '../operation/context.js'

/** By channel: the serialized value from the caller. */
export type ChannelValues = ReadonlyMap<string, unknown>

export type NewGraphCheckpoint = GraphCheckpoint & { readonly values: ChannelValues }

export type GraphContents = {
  readonly values: ChannelValues
  /** By task, then by index. */
  readonly writes: readonly GraphWrite[]
  /** The sends of the parent's tasks, if this checkpoint needs them. */
  readonly sends: readonly GraphWrite[]
}

/** The parts of a channel's value: a stored value, if there is one, and the writes since then, oldest first. */
export type ChannelHistory = {
  readonly seed?: unknown
  readonly writes: readonly GraphWrite[]
}

/** The least recently used memory is dropped; the next state of its thread is then stored in full. */
const MAX_MEMORIES = 200
/** Prefix of keys: a channel may be called `__proto__` or `$`, which a key of a state should not be. */
const CHANNEL = ':'

/** Remembers the last state of each thread and namespace, against which the next one is stored. */
export class ThreadMemories {
  readonly #memories = new Map<string, StateMemory>()

  of({ thread, ns }: Pick<GraphPlace, 'thread' | 'ns'>): StateMemory {
    const key = JSON.stringify([thread, ns])
    const memory = this.#memories.get(key) ?? new StateMemory()
    this.#memories.delete(key)
    this.#memories.set(key, memory)
    const [oldest] = this.#memories.keys()
    if (this.#memories.size > MAX_MEMORIES && oldest !== undefined) this.#memories.delete(oldest)
    return memory
  }
}

/** Throws SESSION_DELETED if the checkpoint continues a deleted thread. */
export function putGraphCheckpoint(
  { ledger }: StoreContext,
  {
    checkpoint,
    memories,
  }: { readonly checkpoint: NewGraphCheckpoint; readonly memories: ThreadMemories },
): void {
  const memory = memories.of(checkpoint)
  const state = Object.fromEntries(
    [...checkpoint.values].map(([channel, value]) => [`${CHANNEL}${channel}`, value]),
  )
  try {
    ledger.transaction(() => ledger.threads.put(checkpoint, ledger.states.write(state, memory)))
  } catch (error) {
    // The rows were rolled back, so the memory no longer matches the store.
    memory.forget()
    throw error
  }
}

/** Returns undefined if the checkpoint does not exist. */
export function readGraphCheckpoint(
  context: StoreContext,
  place: GraphPlace,
): GraphContents | undefined {
  const { threads } = context.ledger
  const found = threads.get(place)
  if (found === undefined) return undefined
  const { thread, ns, parent, sends } = found
  const sent =
    parent === null || sends === null
      ? []
      : threads.writes({ thread, ns, id: parent }).filter(({ channel }) => channel === sends)
  return { values: readValues(context, found), writes: threads.writes(place), sends: sent }
}

/** Walks up from the parent of the checkpoint; for each channel it stops at the nearest checkpoint with a value. */
export function readChannelHistories(
  context: StoreContext,
  { place, channels }: { readonly place: GraphPlace; readonly channels: readonly string[] },
): ReadonlyMap<string, ChannelHistory> {
  const open = new Set(channels)
  const writes = new Map(channels.map((channel) => [channel, new Array<GraphWrite>()]))
  const seeds = new Map<string, unknown>()
  for (const ancestor of ancestors(context, place)) {
    if (open.size === 0) break
    // Newest first; the list is reversed at the end.
    for (const write of context.ledger.threads.writes(ancestor).reverse())
      if (open.has(write.channel)) writes.get(write.channel)?.push(write)
    for (const [channel, seed] of readValues(context, {
      state: ancestor.state,
      channels: [...open],
    })) {
      seeds.set(channel, seed)
      open.delete(channel)
    }
  }
  return new Map(
    [...writes].map(([channel, newestFirst]) => {
      const history = { writes: newestFirst.reverse() }
      return [channel, seeds.has(channel) ? { ...history, seed: seeds.get(channel) } : history]
    }),
  )
}

/** Parent first. */
function* ancestors(
  { ledger }: StoreContext,
  place: GraphPlace,
): Generator<StoredGraphCheckpoint, void, undefined> {
  const seen = new Set<string>()
  let above = ledger.threads.get(place)?.parent ?? null
  while (above !== null && !seen.has(above)) {
    seen.add(above)
    const found = ledger.threads.get({ ...place, id: above })
    if (found === undefined) return
    yield found
    above = found.parent
  }
}

/** Reads all channels, or the given ones as far as the state has them. */
export function readValues(
  { ledger }: StoreContext,
  { state, channels }: { readonly state: StateId; readonly channels?: readonly string[] },
): ChannelValues {
  const keys = channels?.map((channel) => `${CHANNEL}${channel}`)
  const read = ledger.states.read(state, keys === undefined ? {} : { keys })
  return new Map(
    Object.entries(Object(read)).map(([key, value]) => [key.slice(CHANNEL.length), value]),
  )
}
