// How many files this process may still open. Work that keeps many files open takes a share of that number.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { hasCode } from '../model/index.js'

/** Whether an open folder has a path that still leads to it after another folder replaces it. */
export const HAS_DESCRIPTOR_PATHS = process.platform === 'linux' && existsSync('/proc/self/fd')

/** If the limit is unknown: the lowest default of current systems, less what the process itself has open. */
const USUAL = 192

export function freeDescriptors(): number {
  try {
    const limit = /^Max open files +(\d+) /m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1]
    // The limit is "unlimited".
    return limit === undefined ? Infinity : Number(limit) - readdirSync('/proc/self/fd').length
  } catch (error) {
    if (hasCode(error, 'EMFILE', 'ENFILE')) return 0
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'EACCES', 'EPERM')) return USUAL
    throw error
  }
}
