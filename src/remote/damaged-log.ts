// A log whose head cannot be read: it is reported by itself, so that one damaged log keeps no one from the others.
import { type LogName, SavestateError } from '../model/index.js'

export type DamagedLog = { readonly log: LogName; readonly damage: SavestateError }

/** The result of `read`, or STORE_DAMAGED or STORE_NEWER as a value. */
export function orDamaged<Value extends object>(
  log: LogName,
  read: () => Value,
): Value | DamagedLog {
  try {
    return read()
  } catch (error) {
    const isOfLog =
      error instanceof SavestateError && ['STORE_DAMAGED', 'STORE_NEWER'].includes(error.code)
    if (!isOfLog) throw error
    return { log, damage: error }
  }
}

export function isDamaged(head: object): head is DamagedLog {
  return 'damage' in head
}
