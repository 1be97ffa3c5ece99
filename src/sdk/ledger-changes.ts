// Reports commits to the ledger, by this process or another one. SQLite has no notifications across processes; a poll reads one
// number from shared memory.
import { setTimeout as sleep } from 'node:timers/promises'
import type { StoreContext } from '../engine/index.js'
import type { OpenCalls } from './opening/open-calls.js'

const POLL_MS = 150

/**
 * Yields once after one or more commits since the call, or since it yielded before. Ends with the signal, or when the store is
 * closed. Does not keep the process alive.
 */
export function watchLedger(
  { ledger, calls }: Pick<StoreContext, 'ledger'> & { readonly calls: OpenCalls },
  signal: AbortSignal | undefined,
): AsyncGenerator<void, void, undefined> {
  calls.refuseClosed()
  const ended = signal === undefined ? calls.closed : AbortSignal.any([signal, calls.closed])
  // Read here and not in the generator, whose code starts only with the first request.
  let seen = ledger.changeMark()
  async function* poll(): AsyncGenerator<void, void, undefined> {
    while (!ended.aborted) {
      const mark = ledger.changeMark()
      if (mark !== seen) {
        seen = mark
        yield
      } else await pause(ended)
    }
  }
  return poll()
}

async function pause(signal: AbortSignal): Promise<void> {
  try {
    await sleep(POLL_MS, undefined, { ref: false, signal })
  } catch (error) {
    if (!signal.aborted) throw error
  }
}
