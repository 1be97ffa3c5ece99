// Renews the lease of a session while its process lives. Otherwise another process may take the session over.
import * as engine from '../../engine/index.js'
import { HEARTBEAT_MS, LEASE_MS, SavestateError } from '../../model/index.js'

/** `onLost`: this process can no longer write the session. Returns a function that stops the heartbeat. */
export function beat(
  { ledger, lease, clock, isLeased, share }: engine.SessionContext,
  onLost: (error: Error) => void,
): () => void {
  if (!isLeased) return () => undefined
  const renew = () => {
    try {
      ledger.sessions.renewLease(lease, clock.nowMs() + LEASE_MS)
    } catch (error) {
      const code = error instanceof SavestateError ? error.code : undefined
      const isLost = code === 'SESSION_FENCED' || code === 'SESSION_DELETED'
      // Ignore other errors, such as a lock that another process holds: the next beat comes before the lease ends.
      if (!isLost && code !== 'STORE_CLOSED') return
      clearInterval(timer)
      if (isLost && error instanceof SavestateError) onLost(error)
    }
  }
  const timer = setInterval(renew, HEARTBEAT_MS)
  timer.unref()
  // The lease on a remote may be lost first.
  share?.onLost((error) => {
    clearInterval(timer)
    onLost(error)
  })
  return () => clearInterval(timer)
}
