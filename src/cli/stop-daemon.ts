// Ends the daemon of the store, for who wants that or needs the store for itself.
import { setTimeout as sleep } from 'node:timers/promises'
import { daemonPlaceHolder } from '../internal.js'
import { endDaemon, findDaemon } from './daemon-process.js'
import { unresponsive } from './unresponsive.js'

/** As long as anybody waits for a project. */
const PATIENCE_MS = 60_000
const LOOK_EVERY_MS = 20

/** True if one was running and has ended. Throws DAEMON_FAILED if it does not answer. */
export async function stopDaemon(): Promise<boolean> {
  const deadline = performance.now() + PATIENCE_MS
  for (let wasThere = false; ; wasThere = true) {
    const found = await findDaemon()
    if (found?.status !== undefined && (await endDaemon(found.address))) return true
    // Its number may be another program's by now.
    const holder = await daemonPlaceHolder()
    if (holder === undefined) return wasThere
    // One that has the place and no address is about to begin, or to end when its work is done.
    if (found !== undefined || performance.now() > deadline) throw unresponsive(holder)
    await sleep(LOOK_EVERY_MS)
  }
}
