// Threads of a graph framework, which makes and names its checkpoints itself. The values of their channels are stored as
// differences between states. Each put is one transaction (I2). A removal leaves checkpoints that a remaining one depends on:
// the value of a delta channel consists of the writes since an earlier checkpoint.
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
function readValues(
  { ledger }: StoreContext,
  { state, channels }: { readonly state: StateId; readonly channels?: readonly string[] },
): ChannelValues {
  const keys = channels?.map((channel) => `${CHANNEL}${channel}`)
  const read = ledger.states.read(state, keys === undefined ? {} : { keys })
  return new Map(
    Object.entries(Object(read)).map(([key, value]) => [key.slice(CHANNEL.length), value]),
  )
}

/** Keeps the latest checkpoint of each namespace and those it depends on. Returns how many were removed. */
export function keepLatest(context: StoreContext, thread: string): number {
  return removeFrom(context, {
    thread,
    choose: (all) => {
      const latest = new Map<string, string>()
      for (const { ns, id } of all) if (id > (latest.get(ns) ?? '')) latest.set(ns, id)
      return all.filter(({ ns, id }) => latest.get(ns) !== id)
    },
  })
}

/** Returns how many checkpoints were removed, in all threads. */
export function deleteRuns(context: StoreContext, runs: readonly string[]): number {
  const isOfRuns = ({ run }: StoredGraphCheckpoint) => run !== null && runs.includes(run)
  const threads = context.ledger.threads.threadsOfRuns(runs)
  const removed = threads.map((thread) =>
    removeFrom(context, { thread, choose: (all) => all.filter(isOfRuns) }),
  )
  return removed.reduce((sum, count) => sum + count, 0)
}

type Removal = {
  readonly thread: string
  readonly choose: (all: readonly StoredGraphCheckpoint[]) => readonly StoredGraphCheckpoint[]
}

function removeFrom(context: StoreContext, { thread, choose }: Removal): number {
  const { ledger } = context
  return ledger.transaction(() => {
    const all = ledger.threads.all(thread)
    const removed = new Set(choose(all))
    keepDependencies(context, { all, removed })
    const sends = mapSends(all.filter((checkpoint) => !removed.has(checkpoint)))
    for (const checkpoint of removed)
      ledger.threads.remove(checkpoint, { keepWritesTo: sends.get(keyOf(checkpoint)) })
    return removed.size
  })
}

/** Maps each parent to the channel whose writes its children need. */
function mapSends(staying: readonly StoredGraphCheckpoint[]): Map<string, string> {
  return new Map(
    staying.flatMap(({ ns, parent, sends }) =>
      parent === null || sends === null ? [] : [[keyOf({ ns, id: parent }), sends]],
    ),
  )
}

/** Removes from `removed` the checkpoints that remaining ones depend on. */
function keepDependencies(
  context: StoreContext,
  {
    all,
    removed,
  }: {
    readonly all: readonly StoredGraphCheckpoint[]
    readonly removed: Set<StoredGraphCheckpoint>
  },
): void {
  const byPlace = new Map(all.map((checkpoint) => [keyOf(checkpoint), checkpoint]))
  const parentOf = ({ ns, parent }: StoredGraphCheckpoint) =>
    parent === null ? undefined : byPlace.get(keyOf({ ns, id: parent }))
  const staying = all.filter((checkpoint) => !removed.has(checkpoint))
  // A dependency must be complete too, so the loop appends to the list that it iterates over.
  for (const kept of staying) {
    const open = new Set(kept.deltas)
    const seen = new Set([kept])
    let above = parentOf(kept)
    // Stop at a parent that stays anyway: its own iteration continues upwards.
    while (above !== undefined && open.size > 0 && removed.has(above) && !seen.has(above)) {
      seen.add(above)
      removed.delete(above)
      staying.push(above)
      for (const channel of readValues(context, { state: above.state, channels: [...open] }).keys())
        open.delete(channel)
      above = parentOf(above)
    }
  }
}

function keyOf({ ns, id }: Pick<StoredGraphCheckpoint, 'ns' | 'id'>): string {
  return JSON.stringify([ns, id])
}
