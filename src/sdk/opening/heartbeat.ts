// Renews the lease of a session while it is open. Without that, another process may take the session over.
import * as engine from '../../engine/index.js'
import { HEARTBEAT_MS, LEASE_MS, SavestateError } from '../../model/index.js'

/** `onLost`: another process has the lease. Returns a function that stops the renewal. */
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
      // Ignore other errors, such as a ledger that is locked for long: the next renewal comes before the lease ends.
      if (!isLost && code !== 'STORE_CLOSED') return
      clearInterval(timer)
      if (isLost && error instanceof SavestateError) onLost(error)
    }
  }, HEARTBEAT_MS)
  timer.unref()
  return () => clearInterval(timer)
}
