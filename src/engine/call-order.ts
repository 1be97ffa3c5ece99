// Calls that write to one session take effect in the order in which they were made, also where the caller does not
// wait for each: a save of the state is done at once, one with files takes a while.

export class CallOrder {
  /** Calls that are not over. */
  #open = 0
  #last: Promise<unknown> = Promise.resolve()

  /** Whether a call would have its turn at once. */
  get isFree(): boolean {
    return this.#open === 0
  }

  /** When its turn comes; before this returns if nothing is under way, so that a call that is alone waits for nothing. */
  do<Result>(work: () => Promise<Result>): Promise<Result> {
    const isFirst = this.isFree
    this.#open += 1
    const turn = isFirst ? work() : this.#last.then(work)
    const over = () => {
      this.#open -= 1
    }
    this.#last = turn.then(over, over)
    return turn
  }

  /**
   * For what a call asks its caller in the middle: that may make calls of its own, and would wait for ever if they had to
   * wait for this one.
   */
  async aside<Result>(ask: () => Promise<Result>): Promise<Result> {
    const [open, last] = [this.#open, this.#last]
    this.#open = 0
    try {
      return await ask()
    } finally {
      while (!this.isFree) await this.#last
      this.#open = open
      this.#last = last
    }
  }
}
