// Reads, hashes and compresses files on several threads, and on this one after the scan. Each thread gets a few batches at
// a time, so that memory stays bounded for any project.
import { availableParallelism } from 'node:os'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads'
import { isError } from '../../../model/index.js'
import { errorOf, type Fault } from '../../../system/index.js'
import type { Pending } from '../scan/scan-types.js'
import { FileHasher, type HashedBatch, type HashRequest } from './file-hasher.js'

/** The messages of a hash thread. */
export type HashThreadData = { readonly objectsFolder: string; readonly port: MessagePort }
export type HashReply = HashedBatch | { readonly fault: Fault }

const MAX_THREADS = 4
const YOUNG_MB = 8
const BATCH_FILES = 100
/** Batches queued per thread during the scan: enough to keep it busy until the next dispatch. */
const BATCHES_AHEAD = 3
/** Files that this thread hashes before it checks the others. */
const FILES_HERE = 25
/** With so few batches left, each thread gets only one, so that all finish at the same time. */
const LAST_BATCHES = 4

type Options = {
  readonly hashThread: URL
  readonly objectsFolder: string
  readonly largeBytes: number
  readonly take: (batch: readonly Pending[], hashed: HashedBatch) => void
}

/** A thread with its own message port: the scan never yields to the event loop, so it fetches answers synchronously. */
type Lane = {
  readonly worker: Worker
  readonly port: MessagePort
  /** The thread answers in order. */
  readonly inFlight: (readonly Pending[])[]
}

export class HashPool {
  readonly #lanes: readonly Lane[]
  readonly #options: Options
  readonly #queue: (readonly Pending[])[] = []
  #batch: Pending[] = []
  #isScanOver = false
  #fault: Error | undefined
  #wake: (() => void) | undefined

  /** Starts the threads: with the scan's own thread, one per core. */
  constructor(options: Options) {
    this.#options = options
    const count = Math.min(MAX_THREADS, Math.max(1, availableParallelism() - 1))
    this.#lanes = Array.from({ length: count }, () => this.#startLane())
  }

  add(item: Pending): void {
    this.#batch.push(item)
    if (this.#batch.length >= BATCH_FILES) this.#closeBatch()
  }

  /** Resolves when `take` has received every file; throws the first error. */
  async finish(): Promise<void> {
    this.#closeBatch()
    this.#isScanOver = true
    for (const lane of this.#lanes) {
      // Keeps the process alive until `close`.
      lane.port.on('message', (reply: HashReply) => {
        try {
          this.#takeReply(lane, reply)
          this.#dispatch()
        } catch (error) {
          this.#fail(error)
        }
        if (!this.#isBusy()) this.#wake?.()
      })
    }
    await this.#workHere()
    if (this.#isBusy()) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    if (this.#fault !== undefined) throw this.#fault
  }

  /** Does not wait for the threads to end: they only read. */
  close(): void {
    for (const { port, worker } of this.#lanes) {
      port.close()
      void worker.terminate()
    }
  }

  #startLane(): Lane {
    const { objectsFolder, hashThread } = this.#options
    const { port1: port, port2 } = new MessageChannel()
    const worker = new Worker(hashThread, {
      workerData: { objectsFolder, port: port2 } satisfies HashThreadData,
      transferList: [port2],
      execArgv: [],
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
    })
    worker.on('error', (error) => this.#fail(error))
    worker.on('exit', () => this.#fail(new Error('A hash thread ended')))
    worker.unref()
    port.unref()
    return { worker, port, inFlight: [] }
  }

  #closeBatch(): void {
    if (this.#batch.length > 0) this.#queue.push(this.#batch)
    this.#batch = []
    for (const lane of this.#lanes) {
      let received = receiveMessageOnPort(lane.port)
      for (; received !== undefined; received = receiveMessageOnPort(lane.port))
        this.#takeReply(lane, received.message as HashReply)
    }
    this.#dispatch()
  }

  /** Hashes until no batch is left. Yields to the event loop in between, which delivers the answers of the threads. */
  async #workHere(): Promise<void> {
    if (this.#queue.length === 0) return
    const hasher = new FileHasher(this.#options.objectsFolder)
    try {
      while (this.#fault === undefined) {
        this.#dispatch()
        const batch = this.#queue.shift()
        if (batch === undefined) return
        if (batch.length > FILES_HERE) this.#queue.unshift(batch.slice(FILES_HERE))
        const here = batch.slice(0, FILES_HERE)
        this.#take(here, hasher.hash(this.#requestOf(here)))
        await nextTurn()
      }
    } finally {
      hasher.close()
    }
  }

  #dispatch(): void {
    const lastCount = this.#queue.length > LAST_BATCHES ? 2 : 1
    const most = this.#isScanOver ? lastCount : BATCHES_AHEAD
    while (this.#queue.length > 0) {
      // Each thread compiles its own code, so a thread is used only if the earlier ones are busy.
      const lane = this.#lanes.find(({ inFlight }) => inFlight.length < most)
      if (lane === undefined) return
      const batch = this.#queue.shift() ?? []
      lane.inFlight.push(batch)
      lane.port.postMessage(this.#requestOf(batch))
    }
  }

  #requestOf(batch: readonly Pending[]): HashRequest {
    return { paths: batch.map(({ path }) => path), largeBytes: this.#options.largeBytes }
  }

  #takeReply({ inFlight }: Lane, reply: HashReply): void {
    if ('fault' in reply) throw errorOf(reply.fault)
    this.#take(inFlight.shift() ?? [], reply)
  }

  #take(batch: readonly Pending[], hashed: HashedBatch): void {
    const count = hashed.files.length
    if (count < batch.length) this.#queue.unshift(batch.slice(count))
    this.#options.take(batch.slice(0, count), hashed)
  }

  #fail(error: unknown): void {
    this.#fault ??= isError(error) ? error : new Error(String(error))
    this.#wake?.()
  }

  #isBusy(): boolean {
    if (this.#fault !== undefined) return false
    return this.#queue.length > 0 || this.#lanes.some(({ inFlight }) => inFlight.length > 0)
  }
}
