// Counts the running calls of an open store, so that `close` waits for them and later calls are refused.
import * as engine from '../../engine/index.js'
import { explainSystemError, storeClosed } from '../../model/index.js'

/** For work that is no operation: operations explain their failures themselves. */
export async function explained<Result>(work: () => Promise<Result> | Result): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    throw explainSystemError(error)
  }
}

type Call = {
  readonly input: object
  readonly callbacks?: engine.Callbacks
  /** Runs the operation after the earlier ones of the queue. */
  readonly queue?: engine.SessionContext['writeQueue']
}

/** The code of a lazy operation is loaded by now. */
async function acknowledge<Context extends engine.StoreContext>(
  operation: engine.AnyOperation<Context, unknown>,
  context: Context,
): Promise<void> {
  const { effect } = 'load' in operation ? await operation.load() : operation
  if (effect === 'reads') return
  // A prune works on what is here; what other hosts have is theirs.
  await engine.acknowledge(context, { skipBusy: effect === 'changes-store' })
}

export class OpenCalls {
  #count = 0
  readonly #closing = new AbortController()
  #onIdle: (() => void) | undefined

  /** Aborted when `close` is called. */
  get closed(): AbortSignal {
    return this.#closing.signal
  }

  /** Throws STORE_CLOSED. */
  refuseClosed(): void {
    if (this.closed.aborted) throw storeClosed()
  }

  during<Result>(work: () => Promise<Result>): Promise<Result> {
    this.refuseClosed()
    this.#count += 1
    const leave = () => this.#leave()
    try {
      const call = work()
      call.then(leave, leave)
      return call
    } catch (error) {
      leave()
      throw error
    }
  }

  perform<Context extends engine.StoreContext, Result>(
    operation: engine.AnyOperation<Context, Result>,
    context: Context,
    { input, callbacks = {}, queue }: Call,
  ): Promise<Result> {
    const guarded = this.#guardCallbacks(callbacks)
    const work = () => engine.perform(operation, context, { input, callbacks: guarded })
    return this.during(async () => {
      const result = await (queue === undefined ? work() : queue.do(work))
      // Outside the queue: calls that are made meanwhile are shipped together.
      if (context.fleet !== undefined) await acknowledge(operation, context)
      return result
    })
  }

  /** The same for a function of the engine that is not an operation. */
  run<Result>(work: () => Promise<Result> | Result): Promise<Result> {
    return this.during(() => explained(work))
  }

  /** `close` does not wait for a call whose caller is asked: the answer may be to close the store. */
  #guardCallbacks(callbacks: engine.Callbacks): engine.Callbacks {
    const { confirm, confirmImport, confirmPrune } = callbacks
    return {
      ...callbacks,
      confirm: confirm && ((...plan) => this.#outside(() => confirm(...plan))),
      confirmImport: confirmImport && ((plan) => this.#outside(() => confirmImport(plan))),
      confirmPrune: confirmPrune && ((planned) => this.#outside(() => confirmPrune(planned))),
    }
  }

  /** Refuses new calls and waits for the running ones. */
  async close(): Promise<void> {
    this.#closing.abort()
    if (this.#count === 0) return
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve
    })
  }

  async #outside<Result>(ask: () => Promise<Result>): Promise<Result> {
    this.#leave()
    try {
      return await ask()
    } finally {
      this.#count += 1
      this.refuseClosed()
    }
  }

  #leave(): void {
    this.#count -= 1
    if (this.#count === 0) this.#onIdle?.()
  }
}
