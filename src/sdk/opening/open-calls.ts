// Counts the running calls of an open store, so that `close` waits for them and later calls are refused.
import type { Callbacks } from '../../engine/index.js'
import { storeClosed } from '../../model/index.js'

export class OpenCalls {
  #count = 0
  #isClosed = false
  #onIdle: (() => void) | undefined

  /** Throws STORE_CLOSED. */
  refuseClosed(): void {
    if (this.#isClosed) throw storeClosed()
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

  /** `close` does not wait for a call whose caller is asked: the answer may be to close the store. */
  guardCallbacks(callbacks: Callbacks | undefined): Callbacks | undefined {
    if (callbacks === undefined) return callbacks
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
    this.#isClosed = true
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
