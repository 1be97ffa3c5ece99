// How many files this process may still open: work that holds many of them open takes its share of that.
import { readdirSync, readFileSync } from 'node:fs'
import { hasCode } from '../model/index.js'

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
