// Reads, hashes and compresses on several threads, and on this one once the scan is over. Work goes out in batches, a few
// at a time for each thread, so that memory stays bounded whatever the project holds.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { FileHasher } from './file-hasher.js'
import type { HashedBatch, HashRequest } from './hashed-batch.js'
import type { HashLane } from './hash-lane.js'
import type { Pending } from '../scan/scan-types.js'
import { isError } from '../../../model/index.js'

const BATCH_FILES = 100
/** A thread with so many to come has enough to do until it is asked again. */
const BATCHES_AHEAD = 3
/** What this thread does between two looks at the others. */
const FILES_HERE = 25
/** With so few left, no thread gets more than one: all should end at the same time. */
const LAST_BATCHES = 4

export type TakeBatch = (batch: readonly Pending[], hashed: HashedBatch) => void

export type HashPoolOptions = {
  /** What the store has is looked for there. */
  readonly objectsFolder: string
  readonly largeBytes: number
  readonly take: TakeBatch
}

type Busy = { readonly lane: HashLane; readonly underWay: (readonly Pending[])[] }

export class HashPool {
  readonly #lanes: readonly Busy[]
  readonly #options: HashPoolOptions
  readonly #queue: (readonly Pending[])[] = []
  #batch: Pending[] = []
  #fault: Error | undefined
  #wake: (() => void) | undefined

  constructor(lanes: readonly HashLane[], options: HashPoolOptions) {
    this.#lanes = lanes.map((lane) => ({ lane, underWay: [] }))
    this.#options = options
  }

  add(item: Pending): void {
    this.#batch.push(item)
    if (this.#batch.length >= BATCH_FILES) this.#closeBatch()
  }

  /** Resolves when everything added has been taken; throws what went wrong first. */
  async finish(): Promise<void> {
    this.#closeBatch()
    await this.#workHere()
    for (const busy of this.#lanes) {
      busy.lane.listen(
        (answer) => this.#onAnswer(busy, answer),
        (fault) => this.#onFault(fault),
      )
    }
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
    this.#receive()
    this.#dispatch(BATCHES_AHEAD)
  }

  /** Until all is taken up by somebody. What else this thread has to do gets its turns in between. */
  async #workHere(): Promise<void> {
    if (this.#queue.length === 0) return
    const hasher = new FileHasher(this.#options.objectsFolder)
    try {
      for (;;) {
        this.#dispatch(this.#queue.length > LAST_BATCHES ? 2 : 1)
        const batch = this.#queue.shift()
        if (batch === undefined) return
        if (batch.length > FILES_HERE) this.#queue.unshift(batch.slice(FILES_HERE))
        const here = batch.slice(0, FILES_HERE)
        this.#settle(here, hasher.hash(this.#requestOf(here)))
        await nextTurn()
        this.#receive()
      }
    } finally {
      hasher.close()
    }
  }

  /** What the threads have answered so far. */
  #receive(): void {
    for (const { lane, underWay } of this.#lanes) {
      for (let answer = lane.receive(); answer !== undefined; answer = lane.receive())
        this.#settle(underWay.shift() ?? [], answer)
    }
  }

  /** Not more than so many to each thread. */
  #dispatch(most: number): void {
    while (this.#queue.length > 0) {
      const next = this.#nextLane()
      if (next.underWay.length >= most) return
      const batch = this.#queue.shift() ?? []
      next.underWay.push(batch)
      next.lane.send(this.#requestOf(batch))
    }
  }

  #requestOf(batch: readonly Pending[]): HashRequest {
    return { paths: batch.map(({ path }) => path), largeBytes: this.#options.largeBytes }
  }

  /** Each thread compiles the code it runs anew, so the next one works only if those before it cannot keep up. */
  #nextLane(): Busy {
    const first = this.#lanes.find(({ underWay }) => underWay.length < BATCHES_AHEAD)
    return first ?? this.#lanes.reduce((a, b) => (b.underWay.length < a.underWay.length ? b : a))
  }

  #settle(batch: readonly Pending[], answer: HashedBatch): void {
    if (answer.count < batch.length) this.#queue.unshift(batch.slice(answer.count))
    this.#options.take(batch.slice(0, answer.count), answer)
  }

  #onAnswer({ underWay }: Busy, answer: HashedBatch): void {
    try {
      this.#settle(underWay.shift() ?? [], answer)
      this.#dispatch(BATCHES_AHEAD)
    } catch (error) {
      this.#onFault(isError(error) ? error : new Error(String(error)))
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
