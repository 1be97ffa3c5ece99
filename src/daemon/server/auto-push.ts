// Pushes to the remotes that ask for it, after a turn and when there has been a change for a while. Another process does it: neither
// encoding nor the network may delay a hook.
import type { Store } from '../../internal.js'

/** Hooks of the same moment are pushed together. */
const SOON_MS = 500

export class AutoPush {
  readonly #store: Store
  readonly #log: (error: unknown) => void
  readonly #ending = new AbortController()
  #running = false
  #isSoon = false
  #timer: NodeJS.Timeout | undefined

  constructor(store: Store, log: (error: unknown) => void) {
    this.#store = store
    this.#log = log
  }

  /** A turn has ended. */
  pushSoon(): void {
    this.#isSoon = true
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      this.check()
    }, SOON_MS)
  }

  /** Call it every few seconds. */
  check(): void {
    if (this.#running || this.#ending.signal.aborted) return
    const options = { isSoon: this.#isSoon, signal: this.#ending.signal }
    this.#isSoon = false
    try {
      const push = this.#store.remotes.startPushIfDue(options)
      if (push === undefined) return
      this.#running = true
      void push.finally(() => {
        this.#running = false
        // A turn that ended meanwhile.
        if (this.#isSoon) this.check()
      })
    } catch (error) {
      // A damaged remotes.json: commands report it.
      this.#log(error)
    }
  }

  /** Whether there is something to send: now, or once the network is back. A running push has not recorded its end yet. */
  isLeft(): boolean {
    try {
      return this.#running || this.#store.remotes.isPushLeft()
    } catch (error) {
      this.#log(error)
      return false
    }
  }

  /** A running push is ended: the next one finds what was sent. */
  close(): void {
    clearTimeout(this.#timer)
    this.#ending.abort()
  }
}
