// Runs the writes to a thread in the order of their calls: a checkpoint before the writes to it, and a deletion before later writes.

type Work<Ready, Result> = {
  readonly threads: readonly string[]
  /** Awaited in parallel with earlier writes. */
  readonly ready: Promise<Ready>
  readonly work: (ready: Ready) => Promise<Result>
}

export class ThreadQueue {
  readonly #tails = new Map<string, Promise<unknown>>()

  /** Waits for all earlier writes to these threads, whether they succeed or not. */
  async run<Ready, Result>({ threads, ready, work }: Work<Ready, Result>): Promise<Result> {
    const tails = threads.map((thread) => this.#tails.get(thread) ?? Promise.resolve())
    const before = Promise.all(tails)
    const result = Promise.all([ready, before]).then(([input]) => work(input))
    const tail = Promise.allSettled([before, result])
    for (const thread of threads) this.#tails.set(thread, tail)
    try {
      return await result
    } finally {
      for (const thread of threads) if (this.#tails.get(thread) === tail) this.#tails.delete(thread)
    }
  }

  /** Waits for all writes so far. */
  async idle(): Promise<void> {
    await Promise.all(this.#tails.values())
  }
}
