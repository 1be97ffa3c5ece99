// Writes to a thread happen in the order in which they were asked for: a checkpoint before what is written to it, and
// nothing before a deletion that was asked for earlier.

type Work<Ready, Result> = {
  readonly threads: readonly string[]
  /** Waited for as well, at once. */
  readonly ready: Promise<Ready>
  readonly work: (it: Ready) => Promise<Result>
}

export class Order {
  readonly #tails = new Map<string, Promise<unknown>>()

  /** Waits for everything asked for earlier on these threads, whether it succeeded or not. */
  async do<Ready, Result>({ threads, ready, work }: Work<Ready, Result>): Promise<Result> {
    const tails = threads.map((thread) => this.#tails.get(thread) ?? Promise.resolve())
    const before = Promise.all(tails)
    const result = Promise.all([ready, before]).then(([it]) => work(it))
    const tail = Promise.allSettled([before, result])
    for (const thread of threads) this.#tails.set(thread, tail)
    try {
      return await result
    } finally {
      for (const thread of threads) if (this.#tails.get(thread) === tail) this.#tails.delete(thread)
    }
  }

  /** When everything asked for so far is done. */
  async idle(): Promise<void> {
    await Promise.all(this.#tails.values())
  }
}
