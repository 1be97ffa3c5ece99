// Which other processes have a file open, where the system tells.
import { readdirSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { hasCode } from '../model/index.js'

/** Ids of processes other than this one. None too where it cannot be known, which is everywhere but on Linux. */
export function openElsewhere(path: string): number[] {
  return listIfAllowed('/proc')
    .filter((name) => /^[0-9]+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => {
      const folder = join('/proc', pid, 'fd')
      return listIfAllowed(folder).some((fd) => linkIfThere(join(folder, fd)) === path)
    })
    .map(Number)
}

/** Processes come and go, and those of others are not for us to look into. */
const EXPECTED = ['ENOENT', 'EACCES', 'EPERM', 'ESRCH', 'ENOTDIR', 'EINVAL']

function listIfAllowed(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (hasCode(error, ...EXPECTED)) return []
    throw error
  }
}

function linkIfThere(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch (error) {
    if (hasCode(error, ...EXPECTED)) return undefined
    throw error
  }
}
