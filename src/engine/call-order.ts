// Calls that write to one session take effect in the order in which they were made, also where the caller does not
// wait for each: a save of the state is done at once, one with files takes a while.

import { SavestateError } from '../model/index.js'

export class CallOrder {
  readonly #session: string
  /** Calls that are not over. */
  #open = 0
  #last: Promise<unknown> = Promise.resolve()
  #isClosed = false

  constructor(session: string) {
    this.#session = session
  }

  /** Whether a call would have its turn at once. */
  get isFree(): boolean {
    return this.#open === 0
  }

  /** Throws SESSION_CLOSED. */
  expectOpen(): void {
    if (!this.#isClosed) return
    throw new SavestateError(
      'SESSION_CLOSED',
      `The session ${JSON.stringify(this.#session)} was closed: others may write to it`,
      { hint: 'Open it again with `store.session`, or close it after the last call.' },
    )
  }

  /**
   * When its turn comes; before this returns if nothing is under way, so that a call that is alone waits for nothing.
   * Throws SESSION_CLOSED.
   */
  do<Result>(work: () => Promise<Result>): Promise<Result> {
    this.expectOpen()
    return this.finish(work)
  }

  /** For the end of what was begun before the session was closed. */
  finish<Result>(work: () => Promise<Result>): Promise<Result> {
    const isFirst = this.isFree
    this.#open += 1
    const turn = isFirst ? begun(work) : this.#last.then(work)
    const over = () => {
      this.#open -= 1
    }
    this.#last = turn.then(over, over)
    return turn
  }

  /** Takes no call any more, and waits for those that were made. */
  async close(): Promise<void> {
    this.#isClosed = true
    while (!this.isFree) await this.#last
  }

  /**
   * For what a call asks its caller in the middle: that may make calls of its own, and would wait for ever if they had to
   * wait for this one. One of them may be to close: then this one goes no further. Throws SESSION_CLOSED.
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
      this.expectOpen()
    }
  }
}

/** What fails before it has begun has ended too: who closes would wait for it for ever. */
function begun<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return work()
  } catch (error) {
    return Promise.reject(error)
  }
}
