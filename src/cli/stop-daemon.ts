// Ends the daemon of the store, for who wants that or needs the store for itself.
import { daemonPlaceHolder } from '../index.js'
import { endDaemon, findDaemon } from './daemon-process.js'
import { unresponsive } from './unresponsive.js'

/** True if one was running and has ended. Throws DAEMON_FAILED if it does not answer. */
export async function stopDaemon(): Promise<boolean> {
  const found = await findDaemon()
  if (found === undefined) return false
  const { address, status } = found
  if (status !== undefined && (await endDaemon(address))) return true
  // Its number may be another program's by now.
  const holder = await daemonPlaceHolder()
  if (holder === undefined) return false
  throw unresponsive(holder)
}
