// Brings what was shared since to this host.
import type { LogName } from '../../model/index.js'
import type { Remote } from '../../remote/index.js'
import type { StoreContext } from '../operation/context.js'
import type { CaughtUp } from './types.js'

/**
 * Applies the segments after the last one known here, also to a log that is new here. If this host has steps that were not shared,
 * and the remote has continued, the local steps become a fork of their own. Fetches no files. Throws REMOTE_WENT_BACK,
 * SESSION_DELETED, SESSION_BUSY while a process of this host writes the session, and the errors of a remote.
 */
export async function catchUp(
  _context: StoreContext,
  _remote: Remote,
  _log: LogName,
): Promise<CaughtUp> {
  throw new Error('not written yet')
}
