// Runs the calls that write to one session in the order in which they were made, even if the caller does not await them: a
// save with files takes longer than one without.
import { SavestateError } from '../../model/index.js'

export class WriteQueue {
  readonly #session: string
  /** Calls that have not finished. */
  #open = 0
  #last: Promise<unknown> = Promise.resolve()
  #isClosed = false

  constructor(session: string) {
    this.#session = session
  }

  /** A call made now would run at once. */
  get isFree(): boolean {
    return this.#open === 0
  }

  /** Throws SESSION_CLOSED. */
  expectOpen(): void {
    if (!this.#isClosed) return
    throw new SavestateError(
      'SESSION_CLOSED',
      `The session ${JSON.stringify(this.#session)} was closed, and another process may write to it`,
      { hint: 'Open it again with `store.session`, or close it after the last call.' },
    )
  }

  /** Runs the work after the earlier calls, or synchronously if there are none. Throws SESSION_CLOSED. */
  do<Result>(work: () => Promise<Result>): Promise<Result> {
    this.expectOpen()
    return this.finish(work)
  }

  /** Like `do`, but also after the session was closed: for the end of a call that started before. */
  finish<Result>(work: () => Promise<Result>): Promise<Result> {
    const isFirst = this.isFree
    this.#open += 1
    const turn = isFirst ? callNow(work) : this.#last.then(work)
    const finished = () => {
      this.#open -= 1
    }
    this.#last = turn.then(finished, finished)
    return turn
  }

  /** Accepts no further calls, and waits for the earlier ones. */
  async close(): Promise<void> {
    this.#isClosed = true
    while (!this.isFree) await this.#last
  }

  /**
   * For a question to the caller in the middle of a call. The caller may make calls of its own before it answers; they
   * run at once, or they would wait for this call forever. Throws SESSION_CLOSED if one of them closed the session.
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

/** Work that throws at once has finished too; otherwise `close` would wait for it forever. */
function callNow<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return work()
  } catch (error) {
    return Promise.reject(error)
  }
}
