// The calls that are under way on an open store, so that it is closed after them and takes none any more.
import type { Hooks } from '../../engine/index.js'
import { storeClosed } from '../../model/index.js'
import { expectHooks } from './validate-options.js'

export class OpenCalls {
  #count = 0
  #isClosed = false
  #quiet: (() => void) | undefined

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

  /** What a call asks its caller is not waited for: the answer may be to close the store. */
  hooksOf(hooks: Hooks | undefined): Hooks | undefined {
    if (hooks === undefined) return hooks
    expectHooks(hooks)
    const { confirm, confirmImport, confirmPrune } = hooks
    return {
      ...hooks,
      confirm: confirm && ((...plan) => this.#outside(() => confirm(...plan))),
      confirmImport: confirmImport && ((plan) => this.#outside(() => confirmImport(plan))),
      confirmPrune: confirmPrune && ((planned) => this.#outside(() => confirmPrune(planned))),
    }
  }

  /** Takes none any more, and waits for those that are under way. */
  async close(): Promise<void> {
    this.#isClosed = true
    if (this.#count === 0) return
    await new Promise<void>((resolve) => {
      this.#quiet = resolve
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
    if (this.#count === 0) this.#quiet?.()
  }
}
