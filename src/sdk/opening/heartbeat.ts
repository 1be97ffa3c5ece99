// The sign of life of who may write a session. Without it others may take the session over after a while.
import * as engine from '../../engine/index.js'
import { HEARTBEAT_MS, LEASE_MS, SavestateError } from '../../model/index.js'

/** `onLost`: the right to write is gone for good. Returns the way to end it. */
export function beat(
  { ledger, hold, clock }: engine.SessionContext,
  onLost: (error: Error) => void,
): () => void {
  const timer = setInterval(() => {
    try {
      ledger.sessions.renewLease(hold, clock.nowMs() + LEASE_MS)
    } catch (error) {
      const code = error instanceof SavestateError ? error.code : undefined
      const isLost = code === 'SESSION_FENCED' || code === 'SESSION_DELETED'
      // Anything else passes, such as a lock that somebody holds for long: the next beat comes before the lease ends.
      if (!isLost && code !== 'STORE_CLOSED') return
      clearInterval(timer)
      if (isLost && error instanceof SavestateError) onLost(error)
    }
  }, HEARTBEAT_MS)
  timer.unref()
  return () => clearInterval(timer)
}
