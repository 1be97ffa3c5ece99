// Sends what a log has gained since its last segment (docs/internals/shared.md#order-of-writes).
import type { Remote } from '../../remote/index.js'
import type { StoreContext } from '../operation/context.js'
import type { LogWriter, ShippedLog } from './types.js'

/**
 * Sends the pending segment and all changes after it, and shares a log that was not shared yet. Returns once the remote has committed
 * everything that was here at the call. `leaseMs` prolongs the lease.
 *
 * Throws SESSION_FENCED if another process has the log by now, REMOTE_WENT_BACK if the remote has lost segments and another process
 * has the log, SESSION_DELETED, and the errors of a remote. Then everything is still here, and a later call sends it.
 */
export async function shipLog(
  _context: StoreContext,
  _remote: Remote,
  _writer: LogWriter,
  _options: { readonly leaseMs: number | null },
): Promise<ShippedLog> {
  throw new Error('not written yet')
}
