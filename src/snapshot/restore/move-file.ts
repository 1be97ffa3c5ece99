// Changes exactly one path, even if another process replaces it at the same time.
import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  linkSync,
  lstatSync,
  openSync,
  readlinkSync,
  renameSync,
  symlinkSync,
  unlinkSync,
} from 'node:fs'
import { hasCode, ROOT } from '../../model/index.js'
import { FolderReplaced, HAS_DESCRIPTOR_PATHS } from './safe-folders.js'
import { setModeAt } from './special-bits.js'

// Missing in node:fs; the same number on every Linux.
export const O_PATH = 0o10000000

/**
 * `chmod` follows links, so the file is opened first. With O_PATH Linux can open a file without read permission. Returns the
 * result of `setModeAt`.
 */
export function setFileMode(location: string | Buffer, mode: number): number | undefined {
  const fd = openSync(
    location,
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

/**
 * Moves a file or link to its path, unless something is there (EEXIST). A hard link cannot overwrite. On file systems without
 * hard links, the check and the rename are two steps.
 */
export function moveWithoutOverwriting(source: string | Buffer, location: string | Buffer): void {
  try {
    link(source, location)
  } catch (error) {
    if (!hasCode(error, 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'EMLINK', 'EACCES', 'EXDEV')) throw error
    if (lstatSync(location, { throwIfNoEntry: false }) !== undefined) throw new PathTaken()
    renameSync(source, location)
    return
  }
  unlinkSync(source)
}

/** Only Linux can hard-link a symbolic link; elsewhere `link` follows it. */
function link(source: string | Buffer, location: string | Buffer): void {
  if (process.platform !== 'linux' && lstatSync(source).isSymbolicLink())
    symlinkSync(readlinkSync(source, { encoding: 'buffer' }), location)
  else linkSync(source, location)
}

class PathTaken extends Error {
  readonly code = 'EEXIST'

  constructor() {
    super('EEXIST: file already exists')
  }
}
