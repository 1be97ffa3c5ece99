// Reads, hashes and compresses files on several threads, and on this one after the scan. Each thread gets a few batches at
// a time, so that memory stays bounded for any project.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { FileHasher } from './file-hasher.js'
import type { HashedBatch, HashRequest } from './hashed-batch.js'
import type { HashLane } from './hash-lane.js'
import type { Pending } from '../scan/scan-types.js'
import { isError } from '../../../model/index.js'

const BATCH_FILES = 100
/** Batches queued per thread: enough to keep it busy until the next dispatch. */
const BATCHES_AHEAD = 3
/** Files that this thread hashes before it checks the others. */
const FILES_HERE = 25
/** With so few batches left, each thread gets only one, so that all finish at the same time. */
const LAST_BATCHES = 4

export type HashPoolOptions = {
  readonly objectsFolder: string
  readonly largeBytes: number
  readonly take: (batch: readonly Pending[], hashed: HashedBatch) => void
}

type BusyLane = { readonly lane: HashLane; readonly inFlight: (readonly Pending[])[] }

export class HashPool {
  readonly #lanes: readonly BusyLane[]
  readonly #options: HashPoolOptions
  readonly #queue: (readonly Pending[])[] = []
  #batch: Pending[] = []
  #fault: Error | undefined
  #wake: (() => void) | undefined

  constructor(lanes: readonly HashLane[], options: HashPoolOptions) {
    this.#lanes = lanes.map((lane) => ({ lane, inFlight: [] }))
    this.#options = options
  }

  add(item: Pending): void {
    this.#batch.push(item)
    if (this.#batch.length >= BATCH_FILES) this.#closeBatch()
  }

  /** Resolves when `take` has received every file; throws the first error. */
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

  /** Hashes until no batch is left. Yields to the event loop in between. */
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
        this.#takeAnswer(here, hasher.hash(this.#requestOf(here)))
        await nextTurn()
        this.#receive()
      }
    } finally {
      hasher.close()
    }
  }

  /** Takes the answers that have arrived. */
  #receive(): void {
    for (const { lane, inFlight } of this.#lanes) {
      for (let answer = lane.receive(); answer !== undefined; answer = lane.receive())
        this.#takeAnswer(inFlight.shift() ?? [], answer)
    }
  }

  /** Sends batches; at most `most` are in flight per thread. */
  #dispatch(most: number): void {
    while (this.#queue.length > 0) {
      const next = this.#nextLane()
      if (next.inFlight.length >= most) return
      const batch = this.#queue.shift() ?? []
      next.inFlight.push(batch)
      next.lane.send(this.#requestOf(batch))
    }
  }

  #requestOf(batch: readonly Pending[]): HashRequest {
    return { paths: batch.map(({ path }) => path), largeBytes: this.#options.largeBytes }
  }

  /** Each thread compiles its own code, so a thread is used only if the earlier ones are busy. */
  #nextLane(): BusyLane {
    const first = this.#lanes.find(({ inFlight }) => inFlight.length < BATCHES_AHEAD)
    return first ?? this.#lanes.reduce((a, b) => (b.inFlight.length < a.inFlight.length ? b : a))
  }

  #takeAnswer(batch: readonly Pending[], answer: HashedBatch): void {
    if (answer.count < batch.length) this.#queue.unshift(batch.slice(answer.count))
    this.#options.take(batch.slice(0, answer.count), answer)
  }

  #onAnswer({ inFlight }: BusyLane, answer: HashedBatch): void {
    try {
      this.#takeAnswer(inFlight.shift() ?? [], answer)
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
    return this.#queue.length > 0 || this.#lanes.some(({ inFlight }) => inFlight.length > 0)
  }
}
