// How many files this process may still open: work that holds many of them open takes its share of that.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { hasCode } from '../model/index.js'

/** Whether an open folder has a path of its own, which leads to it even if another one takes its place. */
export const HAS_DESCRIPTOR_PATHS = process.platform === 'linux' && existsSync('/proc/self/fd')

/** Where nobody tells: what the least generous of today's systems give a process, but for what it has open itself. */
const USUAL = 192

export function freeDescriptors(): number {
  try {
    const limit = /^Max open files +(\d+) /m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1]
    // None is named where there is no limit.
    return limit === undefined ? Infinity : Number(limit) - readdirSync('/proc/self/fd').length
  } catch (error) {
    if (hasCode(error, 'EMFILE', 'ENFILE')) return 0
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'EACCES', 'EPERM')) return USUAL
    throw error
  }
}
