// Reads, hashes and compresses on as many threads as there are cores. Work goes out in batches, a few at
// a time for each thread, so that memory stays bounded whatever the project holds.
import { availableParallelism } from 'node:os'
import { startThread, type Thread } from '../../system/index.js'
import type { HashCalls, HashedBatch } from './hashed-batch.js'
import type { Pending } from './scan.js'

const MAX_THREADS = 4
const YOUNG_MB = 8
const BATCH_FILES = 200
const BATCH_BYTES = 2 << 20
/** The scan answers no thread while it runs: each has to have enough to do until it is over. */
const BATCHES_PER_THREAD = 6

export type TakeBatch = (batch: readonly Pending[], hashed: HashedBatch) => void

export class HashPool {
  readonly #threads: readonly Thread<HashCalls>[]
  readonly #take: TakeBatch
  readonly #queue: (readonly Pending[])[] = []
  readonly #underWay: number[]
  #batch: Pending[] = []
  #batchBytes = 0
  #fault: Error | undefined
  #waiter: (() => void) | undefined

  constructor(url: URL, objectsFolder: string, take: TakeBatch) {
    const count = Math.min(MAX_THREADS, Math.max(1, availableParallelism()))
    this.#threads = Array.from({ length: count }, () =>
      startThread<HashCalls>(url, { objectsFolder }, { youngMb: YOUNG_MB }),
    )
    this.#underWay = this.#threads.map(() => 0)
    this.#take = take
  }

  add(item: Pending): void {
    this.#batch.push(item)
    this.#batchBytes += item.node.size
    if (this.#batch.length >= BATCH_FILES || this.#batchBytes >= BATCH_BYTES) this.#closeBatch()
  }

  /** Resolves when everything added has been taken; throws what went wrong first. */
  async finish(): Promise<void> {
    this.#closeBatch()
    if (this.#isBusy()) {
      await new Promise<void>((resolve) => {
        this.#waiter = resolve
      })
    }
    if (this.#fault !== undefined) throw this.#fault
  }

  async close(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.close()))
  }

  #closeBatch(): void {
    if (this.#batch.length > 0) this.#queue.push(this.#batch)
    this.#batch = []
    this.#batchBytes = 0
    this.#dispatch()
  }

  #dispatch(): void {
    while (this.#queue.length > 0 && this.#fault === undefined) {
      const least = Math.min(...this.#underWay)
      if (least >= BATCHES_PER_THREAD) return
      const lane = this.#underWay.indexOf(least)
      const batch = this.#queue.shift()
      const thread = this.#threads[lane]
      if (batch === undefined || thread === undefined) return
      this.#underWay[lane] = least + 1
      thread
        .call(
          'hashFiles',
          batch.map(({ path }) => path),
        )
        .then((hashed) => this.#take(batch, hashed))
        .catch((error: unknown) => {
          this.#fault ??= error instanceof Error ? error : new Error(String(error))
        })
        .finally(() => {
          this.#underWay[lane] = (this.#underWay[lane] ?? 1) - 1
          this.#dispatch()
          if (!this.#isBusy()) this.#waiter?.()
        })
    }
  }

  #isBusy(): boolean {
    const hasWork = this.#queue.length > 0 && this.#fault === undefined
    return hasWork || this.#underWay.some((count) => count > 0)
  }
}
