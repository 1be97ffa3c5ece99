// Takes and gives up the right to write a session on a remote (I11).
import type { Remote, RemoteLease } from '../../remote/index.js'
import type { StoreContext } from '../operation/context.js'
import type { TakeLogRequest, TakenLog } from './types.js'

/**
 * Takes the lease. A holder that is a dead process of this machine is replaced at once. Throws SESSION_BUSY with the holder and the
 * time, SESSION_UNKNOWN, SESSION_DELETED, and the errors of a remote. It does not read what was shared since: call `catchUp`.
 */
export async function takeLog(
  _context: StoreContext,
  _remote: Remote,
  _request: TakeLogRequest,
): Promise<TakenLog> {
  throw new Error('not written yet')
}

/** Does nothing if another process has it by now. */
export async function releaseLog(
  _context: StoreContext,
  _remote: Remote,
  _lease: RemoteLease,
): Promise<void> {
  throw new Error('not written yet')
}
