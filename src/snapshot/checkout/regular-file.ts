// Files of the user's `.git` are read by a worker thread that must not hang or run out of memory on
// a FIFO or a video somebody put in their place. What is absent is told apart from what could not
// be looked at, which throws.

import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { ifExists } from '../../base/index.js'
import { fsPath, hasCode } from '../../model/index.js'

/** `unfit`: there, but no regular file or larger than asked for. */
export type RegularFile = Buffer | 'absent' | 'unfit'

/** The bytes of the file at `path` (symbolic links are followed), if it is of at most `maxBytes`. */
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
    // Without O_NONBLOCK, opening a FIFO waits for somebody to write to it.
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
