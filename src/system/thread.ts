// Calls a worker thread like an object with async methods. Calls can report progress, and errors keep their code. A thread
// handles one call at a time, in order.
import { workerThreads } from './runtime.js'
import { type ErrorCode, explainSystemError, isError, SavestateError } from '../model/index.js'

// oxlint-disable-next-line typescript/no-explicit-any -- the shape of a table of functions needs it
export type Calls = Record<string, (argument: any, report: (progress: any) => void) => unknown>

export interface Thread<C extends Calls> {
  call<N extends keyof C & string>(
    name: N,
    argument: Parameters<C[N]>[0],
    options?: {
      readonly onProgress?: Parameters<C[N]>[1] | undefined
      /** Aborted: `report` throws in the thread from then on, and the call rejects with the reason. */
      readonly signal?: AbortSignal | undefined
    },
  ): Promise<Awaited<ReturnType<C[N]>>>
  /** The thread has died: its calls have failed, and new calls fail too. */
  readonly hasEnded: boolean
  close(): Promise<void>
}

type Request = {
  readonly id: number
  readonly name: string
  readonly argument: unknown
  /** One number; not zero once the caller has cancelled the call. */
  readonly cancelled: SharedArrayBuffer | undefined
}
type Reply =
  | { readonly id: number; readonly progress: unknown }
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly error: Fault }
export type Fault = {
  readonly code: ErrorCode | undefined
  readonly message: string
  readonly hint: string | null
  readonly stack: string | undefined
}
type Waiting = {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
  readonly onProgress: ((progress: unknown) => void) | undefined
}

/** `youngMb` limits the young generation. By default each thread reserves as much as a whole process. */
export function startThread<C extends Calls>(
  url: URL,
  data: unknown,
  { youngMb }: { readonly youngMb?: number } = {},
): Thread<C> {
  const waiting = new Map<number, Waiting>()
  const { Worker } = workerThreads()
  const worker = new Worker(url, {
    workerData: data,
    execArgv: [],
    resourceLimits: youngMb === undefined ? {} : { maxYoungGenerationSizeMb: youngMb },
  })
  // An idle thread must not keep the process alive; a running call does.
  worker.unref()
  let lastId = 0
  let end: Error | undefined

  const endAll = (error: Error) => {
    end = error
    for (const { reject } of waiting.values()) reject(error)
    waiting.clear()
  }
  worker.on('message', (reply: Reply) => {
    const call = waiting.get(reply.id)
    if (call === undefined) return
    if ('progress' in reply) {
      call.onProgress?.(reply.progress)
      return
    }
    waiting.delete(reply.id)
    if (waiting.size === 0) worker.unref()
    if ('error' in reply) call.reject(errorOf(reply.error))
    else call.resolve(reply.result)
  })
  worker.on('error', (error: unknown) => endAll(isError(error) ? error : new Error(String(error))))
  worker.on('exit', () => endAll(new Error('The worker thread has ended')))

  return {
    call: (name, argument, options) =>
      new Promise((resolve, reject) => {
        if (end !== undefined) {
          reject(end)
          return
        }
        const id = ++lastId
        const { onProgress, signal } = options ?? {}
        const cancelled = signal === undefined ? undefined : new SharedArrayBuffer(4)
        const cancel = () => cancelled && Atomics.store(new Int32Array(cancelled), 0, 1)
        if (signal?.aborted === true) cancel()
        signal?.addEventListener('abort', cancel)
        const forget = () => signal?.removeEventListener('abort', cancel)
        waiting.set(id, {
          resolve: (value) => {
            forget()
            resolve(value as never)
          },
          reject: (error) => {
            forget()
            reject(signal?.aborted === true ? signal.reason : error)
          },
          onProgress,
        })
        worker.ref()
        worker.postMessage({ id, name, argument, cancelled } satisfies Request)
      }),
    get hasEnded() {
      return end !== undefined
    },
    async close() {
      await worker.terminate()
    },
  }
}

/** The same calls without a thread, for a caller whose event loop may block. */
export function callInProcess<C extends Calls>(start: () => Promise<C>): Thread<C> {
  let calls: Promise<C> | undefined
  let queue: Promise<unknown> = Promise.resolve()
  return {
    call(name, argument, options) {
      const answer = queue.then(async () => {
        const table = await (calls ??= start())
        const { onProgress, signal } = options ?? {}
        return table[name]?.(argument, (progress) => {
          onProgress?.(progress)
          signal?.throwIfAborted()
        })
      })
      // The caller gets the error; the next call must still run.
      queue = answer.catch(() => undefined)
      return answer as Promise<never>
    },
    hasEnded: false,
    close: async () => undefined,
  }
}

/** Runs in the worker thread and answers calls until the thread is terminated. */
export function serveThread(calls: Calls): void {
  const { isMainThread, parentPort: port } = workerThreads()
  if (port === null || isMainThread) throw new Error('serveThread runs in a worker thread')
  let queue: Promise<void> = Promise.resolve()
  port.on('message', (request: Request) => {
    queue = queue.then(() => answer(request))
  })

  async function answer({ id, name, argument, cancelled }: Request): Promise<void> {
    try {
      const call = calls[name]
      if (call === undefined) throw new Error(`The thread has no call ${name}`)
      const flag = cancelled === undefined ? undefined : new Int32Array(cancelled)
      const report = (progress: unknown) => {
        if (flag !== undefined && Atomics.load(flag, 0) !== 0) throw new Error('cancelled')
        port?.postMessage({ id, progress } satisfies Reply)
      }
      const result = await call(argument, report)
      port?.postMessage({ id, result } satisfies Reply)
    } catch (error) {
      port?.postMessage({ id, error: faultOf(error) } satisfies Reply)
    }
  }
}

export function faultOf(thrown: unknown): Fault {
  const error = explainSystemError(thrown)
  if (!isError(error))
    return { code: undefined, message: String(error), hint: null, stack: undefined }
  const { message, stack } = error
  if (!(error instanceof SavestateError)) return { code: undefined, message, hint: null, stack }
  return { code: error.code, message, hint: error.hint, stack }
}

export function errorOf(fault: Fault): Error {
  const error =
    fault.code === undefined
      ? new Error(fault.message)
      : new SavestateError(
          fault.code,
          fault.message,
          fault.hint === null ? {} : { hint: fault.hint },
        )
  if (fault.stack !== undefined) error.stack = fault.stack
  return error
}
