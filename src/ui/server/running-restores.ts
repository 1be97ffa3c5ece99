// Restores that are being carried out. The server ends only after them, because the page shows how they ended.

export class RunningRestores {
  readonly #running = new Set<Promise<unknown>>()

  get isBusy(): boolean {
    return this.#running.size > 0
  }

  async during<Result>(work: () => Promise<Result>): Promise<Result> {
    const running = work()
    this.#running.add(running)
    try {
      return await running
    } finally {
      this.#running.delete(running)
    }
  }

  /** Returns when none is running. Never rejects. */
  async finished(): Promise<void> {
    while (this.isBusy) await Promise.allSettled(this.#running)
  }
}
