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
    options?: { readonly onProgress?: Parameters<C[N]>[1] | undefined },
  ): Promise<Awaited<ReturnType<C[N]>>>
  /** The thread has died: its calls have failed, and new calls fail too. */
  readonly hasEnded: boolean
  close(): Promise<void>
}

type Request = { readonly id: number; readonly name: string; readonly argument: unknown }
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
        waiting.set(id, {
          resolve: (value) => resolve(value as never),
          reject,
          onProgress: options?.onProgress,
        })
        worker.ref()
        worker.postMessage({ id, name, argument } satisfies Request)
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
export function callHere<C extends Calls>(start: () => Promise<C>): Thread<C> {
  let calls: Promise<C> | undefined
  let queue: Promise<unknown> = Promise.resolve()
  return {
    call(name, argument, options) {
      const answer = queue.then(async () => {
        const table = await (calls ??= start())
        return table[name]?.(argument, options?.onProgress ?? (() => undefined))
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

  async function answer({ id, name, argument }: Request): Promise<void> {
    try {
      const call = calls[name]
      if (call === undefined) throw new Error(`The thread has no call ${name}`)
      const report = (progress: unknown) => port?.postMessage({ id, progress } satisfies Reply)
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
