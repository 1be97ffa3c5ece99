// One hash thread with its own message port. The scan never yields to the event loop, so it must be able to fetch
// answers synchronously.
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
      this.#end ??= isError(error) ? error : new Error('A hash thread ended')
      this.#onFault?.(this.#end)
    }
    this.#worker.on('error', end)
    this.#worker.on('exit', end)
    this.#worker.unref()
    port1.unref()
  }

  /** Requests are answered in order. */
  send(request: HashRequest): void {
    this.#port.postMessage(request)
  }

  /** The next answer that has arrived, if any. */
  receive(): HashedBatch | undefined {
    if (this.#end !== undefined) throw this.#end
    const received = receiveMessageOnPort(this.#port)
    return received === undefined ? undefined : answerOf(received.message as HashReply)
  }

  /** From now on the event loop delivers answers and the end of the thread. Keeps the process alive until `close`. */
  listen(onAnswer: (answer: HashedBatch) => void, onFault: (fault: Error) => void): void {
    this.#onFault = onFault
    if (this.#end !== undefined) onFault(this.#end)
    this.#port.on('message', (reply: HashReply) => {
      if ('fault' in reply) onFault(errorOf(reply.fault))
      else onAnswer(reply)
    })
  }

  /** Does not wait for the thread to end: it only reads. */
  close(): void {
    this.#onFault = undefined
    this.#port.close()
    void this.#worker.terminate()
  }
}

/** Starts the threads of one capture: with the scan's own thread, one per core. The caller closes them. */
export function startHashLanes(url: URL, objectsFolder: string): readonly HashLane[] {
  const count = Math.min(MAX_THREADS, Math.max(1, availableParallelism() - 1))
  return Array.from({ length: count }, () => new HashLane(url, objectsFolder))
}

function answerOf(reply: HashReply): HashedBatch {
  if ('fault' in reply) throw errorOf(reply.fault)
  return reply
}
