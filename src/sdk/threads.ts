// The threads of a graph framework, for its adapter: the framework names checkpoints, we keep them.
import * as engine from '../engine/index.js'
import type { StoreContext, ThreadShares } from '../engine/index.js'
import type { GraphCheckpoint, GraphPlace, GraphQuery, GraphWrite } from '../ledger/index.js'
import { parseStorableText } from '../model/index.js'
import type { Calls } from './opening/open-context.js'

export type {
  GraphCheckpoint,
  GraphPlace,
  GraphQuery,
  GraphWrite,
  SerialValue,
} from '../ledger/index.js'

export class Threads {
  readonly #context: StoreContext & Calls
  readonly #memories = new engine.ThreadMemories()

  /** Use `store.threads`. */
  constructor(context: StoreContext & Calls) {
    this.#context = context
  }

  /** Adds a checkpoint, or replaces that of its id. Throws SESSION_DELETED if it continues a deleted thread. */
  async put(checkpoint: engine.NewGraphCheckpoint): Promise<void> {
    const memories = this.#memories
    const put = (context: StoreContext) =>
      engine.putGraphCheckpoint(context, { checkpoint, memories })
    const { thread, ns, id } = checkpoint
    return this.#write(put, (shares) => shares.acknowledgeWrite({ thread, ns, id }))
  }

  /** Adds what a task has written since a checkpoint, which need not be there yet. Throws SESSION_DELETED. */
  async putWrites(place: GraphPlace, writes: readonly GraphWrite[]): Promise<void> {
    const put = ({ ledger }: StoreContext) =>
      ledger.transaction(() => ledger.threads.putWrites(place, writes))
    return this.#write(put, (shares) => shares.acknowledgeWrite(place))
  }

  /** Without an id: that with the greatest. */
  async find({
    thread,
    ns,
    id,
  }: Omit<GraphPlace, 'id'> & { readonly id?: string | undefined }): Promise<
    GraphCheckpoint | undefined
  > {
    return this.#do(({ ledger: { threads } }) => {
      refuseUnstorable([thread, ns, id])
      return id === undefined ? threads.latest(thread, ns) : threads.get({ thread, ns, id })
    })
  }

  /** The contents of a checkpoint; undefined if there is none. */
  async read(place: GraphPlace): Promise<engine.GraphContents | undefined> {
    return this.#do((context) => {
      refuseUnstorable([place.thread, place.ns, place.id])
      return engine.readGraphCheckpoint(context, place)
    })
  }

  /** Greatest id first, across all threads that are asked for. */
  async list(query: GraphQuery = {}): Promise<readonly GraphPlace[]> {
    return this.#do(({ ledger }) => {
      refuseUnstorable([query.thread, query.ns, query.id, query.before])
      return ledger.threads.places(query)
    })
  }

  /** The writes that make up the values of some channels, if the checkpoint does not hold the values. */
  async histories(
    place: GraphPlace,
    channels: readonly string[],
  ): Promise<ReadonlyMap<string, engine.ChannelHistory>> {
    return this.#do((context) => {
      refuseUnstorable([place.thread, place.ns, place.id])
      return engine.readChannelHistories(context, { place, channels })
    })
  }

  /** Deletes a thread; returns how many checkpoints it had. Later checkpoints that continue it are refused. */
  async delete(thread: string): Promise<number> {
    await this.refresh(thread)
    const remove = ({ ledger, clock }: StoreContext) =>
      ledger.transaction(() => ledger.threads.delete(thread, clock.nowMs()))
    return this.#write(remove, (shares) => shares.acknowledge(thread))
  }

  /** Copies a thread under the same ids. Does nothing for an unknown thread. */
  async copy(from: string, to: string): Promise<void> {
    await Promise.all([this.refresh(from), this.refresh(to)])
    const copy = ({ ledger }: StoreContext) =>
      ledger.transaction(() => ledger.threads.copy(from, to))
    return this.#write(copy, (shares) => shares.acknowledge(to))
  }

  /** Leaves the latest checkpoint of each namespace and what it is made from; how many were removed. */
  async keepLatest(thread: string): Promise<number> {
    await this.refresh(thread)
    const prune = (context: StoreContext) => engine.keepLatest(context, thread)
    return this.#write(prune, (shares) => shares.acknowledge(thread))
  }

  /** Forgets the checkpoints of some runs, in all threads; how many there were. */
  async deleteRuns(runs: readonly string[]): Promise<number> {
    await this.refresh()
    const remove = (context: StoreContext) => engine.deleteRuns(context, runs)
    return this.#write(remove, (shares) => shares.acknowledgeAll())
  }

  /** Creates the tables of the remote that the store was opened with. Does nothing without one, and the second time. */
  async setup(): Promise<void> {
    const { fleet, calls } = this.#context
    if (fleet !== undefined) await calls.run(() => fleet.remote.init())
  }

  /**
   * With a remote: brings what other machines have written to a thread, or to all. Call it before reading: one round trip if there is
   * nothing new.
   */
  async refresh(thread?: string): Promise<void> {
    const { fleet, calls } = this.#context
    refuseUnstorable([thread])
    if (fleet === undefined) return
    await calls.run(() =>
      thread === undefined ? fleet.threads.refreshAll() : fleet.threads.refresh(thread),
    )
  }

  /** `acknowledge`: waits until the remote has it, if there is one. */
  async #write<Result>(
    work: (context: StoreContext) => Result,
    acknowledge: (shares: ThreadShares) => Promise<void>,
  ): Promise<Result> {
    const { fleet, calls } = this.#context
    return calls.run(async () => {
      const result = work(this.#context)
      if (fleet !== undefined) await acknowledge(fleet.threads)
      return result
    })
  }

  async #do<Result>(work: (context: StoreContext) => Result): Promise<Result> {
    return this.#context.calls.run(() => work(this.#context))
  }
}

/** In a query, SQLite would cut such a name at NUL, or take a lone surrogate for U+FFFD, and find another thread. */
function refuseUnstorable(names: readonly (string | undefined)[]): void {
  for (const name of names)
    if (name !== undefined) parseStorableText(name, `The name ${JSON.stringify(name)}`)
}
