// Serializes changes of settings: of two concurrent changes, one would be lost.
import { SavestateError } from '../../model/index.js'
import { takeLock } from '../../system/index.js'
import { configLockPath } from '../operation/context.js'

const WAIT_MS = 10_000

/** Throws STORE_BUSY if another process does not finish its change in time. */
export async function withConfigLock(home: string, change: () => void): Promise<void> {
  const lock = await takeLock(configLockPath(home), { waitMs: WAIT_MS, purpose: 'config' })
  if (lock === undefined)
    throw new SavestateError('STORE_BUSY', 'Another process is changing settings', {
      hint: 'Run the command again.',
    })
  try {
    change()
  } finally {
    lock.release()
  }
}
