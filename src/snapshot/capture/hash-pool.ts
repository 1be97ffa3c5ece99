// Reads, hashes and compresses on several threads. Work goes out in batches, a few at a time for each
// thread, so that memory stays bounded whatever the project holds.
import { checkoutEntries } from './checkout-entries.js'
import type { HashedBatch } from './hashed-batch.js'
import type { HashLane } from './hash-lane.js'
import type { Pending } from './scanned.js'

const BATCH_FILES = 100
const BATCHES_PER_LANE = 8
/** A thread with so many to come has enough to do. */
const BATCHES_AHEAD = 3

export type TakeBatch = (batch: readonly Pending[], hashed: HashedBatch) => void

type Busy = { readonly lane: HashLane; readonly underWay: (readonly Pending[])[] }

export class HashPool {
  readonly #lanes: readonly Busy[]
  readonly #largeBytes: number
  readonly #take: TakeBatch
  readonly #queue: (readonly Pending[])[] = []
  #batch: Pending[] = []
  #fault: Error | undefined
  #wake: (() => void) | undefined

  constructor(
    lanes: readonly HashLane[],
    { largeBytes, take }: { readonly largeBytes: number; readonly take: TakeBatch },
  ) {
    this.#lanes = lanes.map((lane) => ({ lane, underWay: [] }))
    this.#largeBytes = largeBytes
    this.#take = take
  }

  add(item: Pending): void {
    this.#batch.push(item)
    if (this.#batch.length >= BATCH_FILES) this.#closeBatch()
  }

  /** Resolves when everything added has been taken; throws what went wrong first. */
  async finish(): Promise<void> {
    for (const busy of this.#lanes) {
      busy.lane.listen(
        (answer) => this.#onAnswer(busy, answer),
        (fault) => this.#onFault(fault),
      )
    }
    this.#closeBatch()
    if (this.#isBusy()) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    if (this.#fault !== undefined) throw this.#fault
  }

  close(): void {
    for (const { lane } of this.#lanes) lane.close()
  }

  #closeBatch(): void {
    if (this.#batch.length > 0) this.#queue.push(this.#batch)
    this.#batch = []
    for (const busy of this.#lanes) {
      for (let answer = busy.lane.receive(); answer !== undefined; answer = busy.lane.receive())
        this.#settle(busy, answer)
    }
    this.#dispatch()
  }

  #dispatch(): void {
    while (this.#queue.length > 0) {
      const next = this.#nextLane()
      if (next.underWay.length >= BATCHES_PER_LANE) return
      const batch = this.#queue.shift() ?? []
      next.underWay.push(batch)
      next.lane.send({
        paths: batch.map(({ path }) => path),
        largeBytes: this.#largeBytes,
        checkout: checkoutEntries(batch),
      })
    }
  }

  /** Each thread compiles the code it runs anew, so the next one works only if those before it cannot keep up. */
  #nextLane(): Busy {
    const first = this.#lanes.find(({ underWay }) => underWay.length < BATCHES_AHEAD)
    return first ?? this.#lanes.reduce((a, b) => (b.underWay.length < a.underWay.length ? b : a))
  }

  #settle({ underWay }: Busy, answer: HashedBatch): void {
    const batch = underWay.shift() ?? []
    if (answer.count < batch.length) this.#queue.unshift(batch.slice(answer.count))
    this.#take(batch.slice(0, answer.count), answer)
  }

  #onAnswer(busy: Busy, answer: HashedBatch): void {
    try {
      this.#settle(busy, answer)
      this.#dispatch()
    } catch (error) {
      this.#onFault(error instanceof Error ? error : new Error(String(error)))
    }
    if (!this.#isBusy()) this.#wake?.()
  }

  #onFault(fault: Error): void {
    this.#fault ??= fault
    this.#wake?.()
  }

  #isBusy(): boolean {
    if (this.#fault !== undefined) return false
    return this.#queue.length > 0 || this.#lanes.some(({ underWay }) => underWay.length > 0)
  }
}
