// Ends the daemon of the store, for users and for commands that need exclusive access.
import { setTimeout as sleep } from 'node:timers/promises'
import { daemonLockHolder, SavestateError } from '../../internal.js'
import { endDaemon, findDaemon } from './process.js'

/** As long as a command waits for a project. */
const PATIENCE_MS = 60_000
const POLL_MS = 20

/** True if one was running and has ended. Throws DAEMON_FAILED if it does not answer. */
export async function stopDaemon(): Promise<boolean> {
  const deadline = performance.now() + PATIENCE_MS
  for (let wasRunning = false; ; wasRunning = true) {
    const found = await findDaemon()
    if (found?.status !== undefined && (await endDaemon(found.address))) return true
    // The lock decides: the process id may belong to another program by now.
    const holder = await daemonLockHolder()
    if (holder === undefined) return wasRunning
    // A holder without an address is starting, or ends when its work is done.
    if (found !== undefined || performance.now() > deadline) throw unresponsive(holder)
    await sleep(POLL_MS)
  }
}

/** For a daemon that holds its lock and does not answer. */
export function unresponsive({ pid }: { readonly pid: number | null }): SavestateError {
  const who = pid === null ? 'The daemon' : `The daemon, process ${pid},`
  return new SavestateError('DAEMON_FAILED', `${who} does not answer`, { hint: howToEnd(pid) })
}

/** Killing the daemon is safe: the store is always consistent. */
export function howToEnd(pid: number | null): string {
  const commands = 'Commands work without it.'
  return pid === null ? commands : `${commands} If it does not recover, end it with: kill -9 ${pid}`
}
