import { linkSync, lstatSync, readlinkSync, renameSync, symlinkSync, unlinkSync } from 'node:fs'
import { hasCode } from '../../model/index.js'

/**
 * Moves a file or link to its path, unless something is there (EEXIST). A hard link cannot overwrite. On file systems without
 * hard links, the check and the rename are two steps.
 */
export function moveWithoutOverwriting(source: string | Buffer, location: string | Buffer): void {
  try {
    link(source, location)
  } catch (error) {
    if (!hasCode(error, 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'EMLINK', 'EACCES', 'EXDEV')) throw error
    if (lstatSync(location, { throwIfNoEntry: false }) !== undefined) throw pathTaken()
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

function pathTaken(): Error {
  return Object.assign(new Error('EEXIST: file already exists'), { code: 'EEXIST' })
}
