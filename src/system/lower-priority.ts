// Makes the calling thread give way to others: bulk work must not hold up the caller's event loop (I12),
// also where there are more busy threads than cores.
import { existsSync, readlinkSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { basename } from 'node:path'

const SELF = '/proc/thread-self'

/** Does nothing where threads have no priority of their own, which is everywhere but on Linux. */
export function lowerPriority(): void {
  if (process.platform !== 'linux' || !existsSync(SELF)) return
  const thread = Number(basename(readlinkSync(SELF)))
  setPriority(thread, constants.priority.PRIORITY_BELOW_NORMAL)
}
