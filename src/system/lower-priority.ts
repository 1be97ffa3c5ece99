// Makes the calling thread give way to others: bulk work must not hold up the caller's event loop (I12),
// also where there are more busy threads than cores.
import { existsSync, readlinkSync } from 'node:fs'
import { constants, getPriority, setPriority } from 'node:os'
import { basename } from 'node:path'
import { hasCode } from '../model/index.js'

const SELF = '/proc/thread-self'

const LOW = constants.priority.PRIORITY_BELOW_NORMAL

/** Does nothing where threads have no priority of their own, which is everywhere but on Linux. */
export function lowerPriority(): void {
  if (process.platform !== 'linux' || !existsSync(SELF)) return
  const thread = Number(basename(readlinkSync(SELF)))
  try {
    // Higher numbers give way to lower ones. Whoever was started with `nice` gives way already, and may not go back up.
    if (getPriority(thread) < LOW) setPriority(thread, LOW)
  } catch (error) {
    // A sandbox may refuse it. The work is done all the same.
    if (!hasCode(error, 'ERR_SYSTEM_ERROR')) throw error
  }
}
