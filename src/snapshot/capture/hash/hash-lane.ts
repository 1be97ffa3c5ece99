// One hash thread, reached through a port of its own: the scan never lets go of its thread, so answers must
// be there for the taking and not only for the event loop to deliver.
import { availableParallelism } from 'node:os'
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads'
import { errorOf } from '../../../system/index.js'
import type { HashedBatch, HashReply, HashRequest, HashThreadData } from './hashed-batch.js'
import { isError } from '../../../model/index.js'

const MAX_THREADS = 4
const YOUNG_MB = 8

export class HashLane {
  readonly #worker: Worker
  readonly #port: MessagePort
  #end: Error | undefined
  #onFault: ((fault: Error) => void) | undefined

  constructor(url: URL, objectsFolder: string) {
    const { port1, port2 } = new MessageChannel()
    this.#port = port1
    this.#worker = new Worker(url, {
      workerData: { objectsFolder, port: port2 } satisfies HashThreadData,
      transferList: [port2],
      execArgv: [],
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
    })
    const end = (error: unknown) => {
      this.#end ??= isError(error) ? error : new Error('A hash thread has ended')
      this.#onFault?.(this.#end)
    }
    this.#worker.on('error', end)
    this.#worker.on('exit', end)
    this.#worker.unref()
    port1.unref()
  }

  /** Answered in the order of sending. */
  send(request: HashRequest): void {
    this.#port.postMessage(request)
  }

  /** An answer that has come already. */
  receive(): HashedBatch | undefined {
    if (this.#end !== undefined) throw this.#end
    const received = receiveMessageOnPort(this.#port)
    return received === undefined ? undefined : answerOf(received.message as HashReply)
  }

  /** Has every further answer, or the end of the thread, delivered; keeps the process alive until `close`. */
  listen(onAnswer: (answer: HashedBatch) => void, onFault: (fault: Error) => void): void {
    this.#onFault = onFault
    if (this.#end !== undefined) onFault(this.#end)
    this.#port.on('message', (reply: HashReply) => {
      if ('fault' in reply) onFault(errorOf(reply.fault))
      else onAnswer(reply)
    })
  }

  /** Does not wait for the thread's end: it only reads, and nothing depends on it. */
  close(): void {
    this.#onFault = undefined
    this.#port.close()
    void this.#worker.terminate()
  }
}

/**
 * The lanes of one capture: with the thread of the scan, as many as there are cores. Started when they are needed, or
 * ahead of that.
 */
export class HashLanes {
  readonly #url: URL
  readonly objectsFolder: string
  #ready: readonly HashLane[] | undefined

  constructor(url: URL, objectsFolder: string) {
    this.#url = url
    this.objectsFolder = objectsFolder
  }

  get isReady(): boolean {
    return this.#ready !== undefined
  }

  warmUp(): void {
    const count = Math.min(MAX_THREADS, Math.max(1, availableParallelism() - 1))
    this.#ready ??= Array.from({ length: count }, () => new HashLane(this.#url, this.objectsFolder))
  }

  /** From here on they are the caller's to close. */
  take(): readonly HashLane[] {
    this.warmUp()
    const lanes = this.#ready ?? []
    this.#ready = undefined
    return lanes
  }

  /** Those that nobody has taken. */
  close(): void {
    for (const lane of this.#ready ?? []) lane.close()
    this.#ready = undefined
  }
}

function answerOf(reply: HashReply): HashedBatch {
  if ('fault' in reply) throw errorOf(reply.fault)
  return reply
}
