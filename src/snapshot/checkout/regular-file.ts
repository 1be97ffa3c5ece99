// Reads files of the user's `.git` without blocking on a FIFO or running out of memory on a huge file. A missing file is
// `absent`; a file that cannot be opened throws.

import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { ifExists } from '../../base/index.js'
import { fsPath, hasCode } from '../../model/index.js'

/** `unfit`: not a regular file, or larger than `maxBytes`. */
export type RegularFile = Buffer | 'absent' | 'unfit'

/** Follows symbolic links. */
export function readRegularFile(path: string, maxBytes: number): RegularFile {
  const descriptor = openForReading(path)
  if (typeof descriptor !== 'number') return descriptor
  try {
    const stats = fstatSync(descriptor)
    if (!stats.isFile() || stats.size > maxBytes) return 'unfit'
    return readUpTo(descriptor, stats.size)
  } finally {
    closeSync(descriptor)
  }
}

function openForReading(path: string): number | 'absent' | 'unfit' {
  try {
    // Without O_NONBLOCK, opening a FIFO waits for a writer.
    const flags = constants.O_RDONLY | constants.O_NONBLOCK
    return ifExists(() => openSync(fsPath(path), flags)) ?? 'absent'
  } catch (error) {
    // A socket; a symbolic link to itself.
    if (hasCode(error, 'ENXIO', 'ELOOP')) return 'unfit'
    throw error
  }
}

function readUpTo(descriptor: number, sizeBytes: number): Buffer {
  const bytes = Buffer.allocUnsafeSlow(sizeBytes)
  let filled = 0
  while (filled < sizeBytes) {
    const count = readSync(descriptor, bytes, filled, sizeBytes - filled, filled)
    if (count === 0) break
    filled += count
  }
  return bytes.subarray(0, filled)
}
