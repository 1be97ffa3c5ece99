// What small saves have left in their logs: brought to its places after a power cut, and dropped when it is surely
// there (docs/store.md#unflushed).
import { SavestateError } from '../model/index.js'
import {
  dropLogs,
  flushLogs,
  hasLogsOfBefore,
  markLogs,
  replayLogsOfBefore,
} from '../snapshot/index.js'
import { takeLock } from '../system/index.js'
import { type StoreContext, unflushedLockPath } from './context.js'

const WAIT_MS = 60_000

/** Before anything else is done with the store: one of all who open it after the machine has stopped. */
export async function bringBackUnflushed(home: string): Promise<void> {
  if (!hasLogsOfBefore(home)) return
  const lock = await takeLock(unflushedLockPath(home), { waitMs: WAIT_MS, purpose: 'open' })
  if (lock === undefined)
    throw new SavestateError('STORE_BUSY', 'Another process is recovering the store', {
      hint: 'Wait until it is done, then run the command again.',
    })
  try {
    replayLogsOfBefore(home)
  } finally {
    lock.release()
  }
}

/** As far as nobody is at work: what a log still holds then is no worse off. */
export async function dropUnflushed({ home, objects }: StoreContext): Promise<void> {
  const marked = objects.alone(() => markLogs(home))?.result
  if (marked === undefined || marked.size === 0) return
  await flushLogs(home, marked)
  objects.alone(() => dropLogs(marked))
}
