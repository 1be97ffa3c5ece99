// Ends the daemon of the store, for who wants that or needs the store for itself.
import { SavestateError } from '../index.js'
import { endDaemon, findDaemon, isThere } from './daemon-process.js'

/** True if one was running and has ended. Throws DAEMON_FAILED if it does not answer. */
export async function stopDaemon(): Promise<boolean> {
  const found = await findDaemon()
  if (found === undefined) return false
  const { address, status } = found
  if (status !== undefined && (await endDaemon(address))) return true
  if (!isThere(address.pid)) return false
  throw new SavestateError('DAEMON_FAILED', `The daemon, process ${address.pid}, does not answer`, {
    hint: `If that is a process of savestate, end it with: kill ${address.pid}`,
  })
}
