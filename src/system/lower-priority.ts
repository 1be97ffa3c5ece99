// Lowers the priority of the calling thread, so that bulk work does not delay the caller's event loop (I12) when there are
// more busy threads than cores.
import { existsSync, readlinkSync } from 'node:fs'
import { constants, getPriority, setPriority } from 'node:os'
import { basename } from 'node:path'
import { hasCode } from '../model/index.js'

const SELF = '/proc/thread-self'

const LOW = constants.priority.PRIORITY_BELOW_NORMAL

/** A no-op except on Linux: elsewhere threads have no priority of their own. */
export function lowerPriority(): void {
  if (process.platform !== 'linux' || !existsSync(SELF)) return
  const thread = Number(basename(readlinkSync(SELF)))
  try {
    // A higher number is a lower priority. A process started with `nice` already has one, and may not raise it again.
    if (getPriority(thread) < LOW) setPriority(thread, LOW)
  } catch (error) {
    // A sandbox may refuse it. The work runs at normal priority then.
    if (!hasCode(error, 'ERR_SYSTEM_ERROR')) throw error
  }
}
