// One visible change of a path that cannot hit another one in its stead.
import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  linkSync,
  openSync,
  readlinkSync,
  renameSync,
  symlinkSync,
  unlinkSync,
} from 'node:fs'
import { hasCode, ROOT } from '../../model/index.js'
import { FolderReplaced, HAS_DESCRIPTOR_PATHS } from './safe-folders.js'
import { setModeAt } from './special-bits.js'

// Not in node:fs; the same number on every Linux.
export const O_PATH = 0o10000000

/**
 * `chmod` follows a link, so the file itself is held while its mode is set. Linux can hold what it may not read.
 * Returns what `setModeAt` does.
 */
export function setModeOf(place: string | Buffer, mode: number): number | undefined {
  const fd = openSync(
    place,
    (HAS_DESCRIPTOR_PATHS ? O_PATH : constants.O_RDONLY) | constants.O_NOFOLLOW,
  )
  try {
    if (!fstatSync(fd).isFile()) throw new FolderReplaced(ROOT)
    if (!HAS_DESCRIPTOR_PATHS) return setModeAt(fd, mode)
    return setModeAt(fd, mode, (bits) => chmodSync(`/proc/self/fd/${fd}`, bits))
  } finally {
    closeSync(fd)
  }
}

/** Where nothing was, nothing may be overwritten: a link fails if something has come meanwhile. */
export function placeNew(source: string | Buffer, place: string | Buffer): void {
  try {
    linkSync(source, place)
  } catch (error) {
    // Some file systems have no hard links.
    if (!hasCode(error, 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'EMLINK', 'EACCES', 'EXDEV')) throw error
    renameSync(source, place)
    return
  }
  unlinkSync(source)
}

/** The same for a link, which not every system can give a second name. */
export function placeNewLink(source: string | Buffer, place: string | Buffer): void {
  symlinkSync(readlinkSync(source, { encoding: 'buffer' }), place)
  unlinkSync(source)
}
