// Threads of graph frameworks in mode wait. A thread has no lease: each writer first takes over what the others wrote.
import type { GraphPlace } from '../../ledger/index.js'
import type { LogName } from '../../model/index.js'
import type { DamagedLog, Remote } from '../../remote/index.js'
import type { StoreContext } from '../operation/context.js'
import { catchUp } from './catch-up.js'
import { compactIfReachable } from './compact-log.js'
import { GroupCommit } from './group-commit.js'
import { withRetries } from './retry.js'
import { notShared } from './share-errors.js'
import { shipLog } from './ship-log.js'

const logOf = (id: string): LogName => ({ kind: 'thread', id })

export class ThreadShares {
  readonly #store: StoreContext
  readonly #remote: Remote
  /** Threads with a segment under way. */
  readonly #commits = new Map<string, GroupCommit>()

  constructor(store: StoreContext, remote: Remote) {
    this.#store = store
    this.#remote = remote
  }

  /** Brings what other hosts wrote: one round trip if there is nothing. */
  async refresh(id: string): Promise<void> {
    await withRetries(() => catchUp(this.#store, this.#remote, logOf(id)))
  }

  /** The same for all threads: one round trip if there is nothing. */
  async refreshAll(): Promise<void> {
    const onDamaged = ({ damage }: DamagedLog): never => {
      throw damage
    }
    const heads = await withRetries(() => this.#remote.heads({ kind: 'thread', onDamaged }))
    for (const head of heads)
      await withRetries(() => catchUp(this.#store, this.#remote, head.log, { head }))
  }

  /** Returns once the remote has everything that was written to the thread before the call. Throws NOT_SHARED. */
  async acknowledge(id: string): Promise<void> {
    const commit = this.#commits.get(id) ?? new GroupCommit(() => this.#ship(id))
    this.#commits.set(id, commit)
    try {
      await commit.run()
    } finally {
      if (commit.isIdle) this.#commits.delete(id)
    }
  }

  /** The same for all threads. */
  async acknowledgeAll(): Promise<void> {
    const remote = await withRetries(() => this.#remote.id())
    const dirty = this.#store.ledger.sharing.list({ remote, isDirty: true })
    const threads = dirty.filter(({ log }) => log.kind === 'thread')
    await Promise.all(threads.map(({ log }) => this.acknowledge(log.id)))
  }

  /** The same for one write to the thread. Throws SESSION_DELETED if another host deleted before what it continues: then it is gone. */
  async acknowledgeWrite(place: GraphPlace): Promise<void> {
    await this.acknowledge(place.thread)
    this.#store.ledger.threads.refuseDeleted(place)
  }

  async #ship(id: string): Promise<void> {
    const log = logOf(id)
    // Nothing was deleted or copied.
    if (!this.#store.ledger.threads.isKnown(id)) return
    try {
      const { removal } = await withRetries(() =>
        shipLog(this.#store, this.#remote, { log, fence: null }, { leaseMs: null }),
      )
      if (removal !== undefined) await compactIfReachable(this.#remote, { log, ...removal })
    } catch (error) {
      throw notShared(error, log)
    }
  }
}
