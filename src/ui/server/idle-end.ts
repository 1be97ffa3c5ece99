// Ends the server when no page has used it for a while. An open stream of events is a page.

export class IdleEnd {
  readonly #idleMs: number
  readonly #onIdle: () => void
  #open = 0
  #timer: NodeJS.Timeout | undefined

  constructor(idleMs: number, onIdle: () => void) {
    this.#idleMs = idleMs
    this.#onIdle = onIdle
  }

  /** The server listens, or a request arrived: the time begins again. */
  touch(): void {
    clearTimeout(this.#timer)
    if (this.#open === 0) this.#timer = setTimeout(this.#onIdle, this.#idleMs)
  }

  /** Returns the function to call when the page is gone. */
  openPage(): () => void {
    this.#open += 1
    clearTimeout(this.#timer)
    let isOpen = true
    return () => {
      if (!isOpen) return
      isOpen = false
      this.#open -= 1
      this.touch()
    }
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#open = Number.POSITIVE_INFINITY
  }
}
