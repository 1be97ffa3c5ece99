// Reads files of the user's `.git` without blocking on a FIFO or running out of memory on a huge file. A missing file is
// `absent`; a file that cannot be opened throws.

import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'
import { ifExists } from '../../base/index.js'
import { fsPath, hasCode } from '../../model/index.js'

// Without O_NONBLOCK, opening a FIFO waits for a writer.
const FLAGS = constants.O_RDONLY | constants.O_NONBLOCK

/** Follows symbolic links. `unfit`: not a regular file, or larger than `maxBytes`. */
export function readRegularFile(path: string, maxBytes: number): Buffer | 'absent' | 'unfit' {
  let fd: number | undefined
  try {
    fd = ifExists(() => openSync(fsPath(path), FLAGS))
    if (fd === undefined) return 'absent'
    const stats = fstatSync(fd)
    if (!stats.isFile() || stats.size > maxBytes) return 'unfit'
    // A link may lead to /proc, where files have size 0 and readFileSync would read gigabytes.
    return stats.size === 0 ? Buffer.alloc(0) : readFileSync(fd)
  } catch (error) {
    // A socket; a symbolic link to itself.
    if (hasCode(error, 'ENXIO', 'ELOOP')) return 'unfit'
    throw error
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}
