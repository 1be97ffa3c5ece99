// Runs the calls that write to one session in the order in which they were made, even if the caller does not await them: a
// save with files takes longer than one without. A call that must wait copies its arguments, because the caller may change them
// meanwhile; any other call reads them in the transaction itself, without a copy.
import { SavestateError, type StateId } from '../../model/index.js'
import type { SessionContext } from './session-context.js'
import type { ExchangedItems } from './session-json.js'

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

/** Runs inside the transaction that adds the checkpoint; `base` is the state of the head. */
export type WriteState = (base: StateId | undefined) => StateId | undefined

export function writeWholeState(
  { ledger, memory, writeQueue }: SessionContext,
  { state, files }: { readonly state?: unknown; readonly files: boolean },
): WriteState {
  if (state === undefined) return (base) => base
  if (files || !writeQueue.isFree) return ledger.states.capture(state, memory)
  return () => ledger.states.write(state, memory)
}

export function writeAppended(
  { ledger, memory, writeQueue }: SessionContext,
  change: { readonly key: string; readonly items: readonly unknown[]; readonly files: boolean },
): WriteState {
  const { key, items, files } = change
  const waits = files || !writeQueue.isFree
  const kept = waits ? ledger.states.captureItems(items, { key, memory }) : items
  return (base) => ledger.states.append(base, { key, items: kept }, memory)
}

/**
 * A copy of other arguments, such as metadata, if the call must wait. A value that cannot be stored is returned as it is:
 * writing it reports the error.
 */
export function copyAtCall<Value>(
  { ledger, writeQueue }: SessionContext,
  value: Value,
  { waits = !writeQueue.isFree }: { readonly waits?: boolean } = {},
): Value {
  if (!waits || typeof value !== 'object' || value === null) return value
  try {
    return ledger.states.copyOf(value)
  } catch (error) {
    if (error instanceof SavestateError && error.code === 'STATE_UNSTORABLE') return value
    throw error
  }
}

/** Copies a list of exported checkpoints. A stream is read as it arrives. */
export function copyItemsAtCall(context: SessionContext, items: ExchangedItems): ExchangedItems {
  // The call always waits: it loads the code of the import first.
  return Array.isArray(items) ? copyAtCall(context, [...items], { waits: true }) : items
}
