// Threads of a graph framework: checkpoints that it makes and names itself. The values of their channels are states,
// stored by difference; everything of one put is one transaction (I2).
import {
  type GraphCheckpoint,
  type GraphPlace,
  type GraphQuery,
  type GraphWrite,
  StateMemory,
  type StoredGraphCheckpoint,
} from '../../ledger/index.js'
import type { StateId } from '../../model/index.js'
import type { StoreContext } from '../operation/context.js'

/** By channel: whatever the caller made of the value. */
export type ChannelValues = ReadonlyMap<string, unknown>

export type NewGraphCheckpoint = GraphCheckpoint & { readonly values: ChannelValues }

export type GraphContents = {
  readonly values: ChannelValues
  /** By task, then by index. */
  readonly writes: readonly GraphWrite[]
  /** What the tasks of the parent sent, where that is a value of this checkpoint. */
  readonly sends: readonly GraphWrite[]
}

/** What a channel's value is made of: a stored value, if there is one, and what was written since, oldest first. */
export type ChannelHistory = {
  readonly seed?: unknown
  readonly writes: readonly GraphWrite[]
}

/** More threads than this are written by difference only until another one needs the place. */
const MAX_MEMORIES = 200
/** A channel may be called `__proto__` or `$`; a key of a state should not. */
const CHANNEL = ':'

/** What the last states consisted of, for each thread and namespace; the least recently used goes first. */
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

/** Throws SESSION_DELETED if it continues a thread that was deleted. */
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
    // The rows were rolled back, so the memory is wrong.
    memory.forget()
    throw error
  }
}

/** The checkpoint need not be there yet. Throws SESSION_DELETED. */
export function putGraphWrites(
  { ledger }: StoreContext,
  { place, writes }: { readonly place: GraphPlace; readonly writes: readonly GraphWrite[] },
): void {
  ledger.transaction(() => ledger.threads.putWrites(place, writes))
}

/** Without an id: that with the greatest. */
export function findGraphCheckpoint(
  { ledger }: StoreContext,
  { thread, ns, id }: Omit<GraphPlace, 'id'> & { readonly id?: string | undefined },
): GraphCheckpoint | undefined {
  return id === undefined
    ? ledger.threads.latest(thread, ns)
    : ledger.threads.get({ thread, ns, id })
}

/** Greatest id first. */
export function graphPlaces({ ledger }: StoreContext, query: GraphQuery): readonly GraphPlace[] {
  return ledger.threads.places(query)
}

/** Undefined if it is not there, or no longer. */
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

/** From the parent of the checkpoint up, for each channel to the nearest checkpoint that holds a value. */
export function channelHistories(
  context: StoreContext,
  { place, channels }: { readonly place: GraphPlace; readonly channels: readonly string[] },
): ReadonlyMap<string, ChannelHistory> {
  const open = new Set(channels)
  const writes = new Map(channels.map((channel) => [channel, new Array<GraphWrite>()]))
  const seeds = new Map<string, unknown>()
  for (const ancestor of ancestors(context, place)) {
    if (open.size === 0) break
    // Backwards, because the whole is turned around at the end.
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

/** All channels, or those of the wished that the state has. */
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
