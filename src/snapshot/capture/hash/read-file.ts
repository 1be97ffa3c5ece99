// Reads a file so that the result is its content at one point in time, or returns why that failed.
import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  openSync,
  readlinkSync,
  readSync,
} from 'node:fs'
import { fsPath, hasCode } from '../../../model/index.js'
import { isStampStable, isUnreadable, lstat, type Stats, stampText } from '../stat-cache/stats.js'

/** `gone`: removed since it was listed. `large`: too large to read into memory. */
export type ReadFault = 'unreadable' | 'unstable' | 'gone' | 'large'
export type StableRead = {
  readonly content: Buffer
  readonly stats: Stats
  readonly readAtMs: number
}

const ATTEMPTS = 3
const LARGE_WRITE_BYTES = 64 << 10
const PAUSE_MS = 5
// Never follow a link or block on a pipe, even if one replaced the file after the listing.
const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)
const BIGINT = { bigint: true } as const

/** A file of `maxBytes` or more is `large`. */
export function readStable(path: string, maxBytes = Infinity): StableRead | ReadFault {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const fd = openForReading(path)
    if (typeof fd === 'string') return fd
    try {
      const readAtMs = Date.now()
      const before = fstatSync(fd, BIGINT)
      if (!before.isFile()) return 'unstable'
      if (before.size >= maxBytes) return 'large'
      const content = readExactly(fd, Number(before.size))
      const after = fstatSync(fd, BIGINT)
      if (!isUnchanged(before, after) || content === 'less') continue
      // Some files, as in /proc, contain more than their size: the true length is unknown.
      if (content === 'more') return 'unreadable'
      if (isSteady(fd, content, after)) return { content, stats: after, readAtMs }
    } catch (error) {
      if (isUnreadable(error)) return 'unreadable'
      throw error
    } finally {
      closeSync(fd)
    }
  }
  return 'unstable'
}

export function readLink(path: string): Buffer | ReadFault {
  try {
    return readlinkSync(fsPath(path), { encoding: 'buffer' })
  } catch (error) {
    // ELOOP: a parent folder became a link to itself.
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP')) return 'gone'
    if (hasCode(error, 'EINVAL')) return 'unstable'
    if (isUnreadable(error)) return 'unreadable'
    throw error
  }
}

/** The stamp belongs to this target, even if another process briefly swaps a parent folder. */
export function readStableLink(path: string): StableRead | ReadFault {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const readAtMs = Date.now()
    const before = lstat(path)
    const content = readLink(path)
    const after = lstat(path)
    if (typeof content === 'string') return content
    if (before === undefined || after === undefined) continue
    if (before === 'unreadable' || after === 'unreadable') return 'unreadable'
    if (stampText(before) === stampText(after)) return { content, stats: after, readAtMs }
  }
  return 'unstable'
}

export function openForReading(path: string): number | ReadFault {
  try {
    return openSync(fsPath(path), OPEN_FLAGS)
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return 'gone'
    if (hasCode(error, 'ELOOP', 'EISDIR')) return 'unstable'
    if (isUnreadable(error)) return 'unreadable'
    throw error
  }
}

/** The first bytes of a file, at most `maxBytes`. */
export function readStart(fd: number, maxBytes: number): Buffer {
  const start = Buffer.alloc(maxBytes)
  return start.subarray(0, readSync(fd, start, 0, maxBytes, 0))
}

export function isUnchanged(before: BigIntStats, after: BigIntStats): boolean {
  return (
    before.size === after.size &&
    before.mtimeNs === after.mtimeNs &&
    before.ctimeNs === after.ctimeNs
  )
}

/**
 * Two writes within one clock tick leave one stamp, and a read between them is torn. So a file that was written just now
 * is read twice.
 */
function isSteady(fd: number, content: Buffer, stats: BigIntStats): boolean {
  if (isStampStable(stats, Date.now())) return true
  // The kernel can pause a large write halfway; two immediate reads would then agree on half of it.
  if (content.length > LARGE_WRITE_BYTES)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS)
  const again = readExactly(fd, content.length)
  return typeof again !== 'string' && again.equals(content)
}

/** Requests one byte more than the size, so that the same call shows the end of the file. */
function readExactly(fd: number, size: number): Buffer | 'less' | 'more' {
  const content = Buffer.allocUnsafe(size + 1)
  let done = 0
  do {
    const read = readSync(fd, content, done, size + 1 - done, done)
    if (read === 0 && done < size) return 'less'
    done += read
  } while (done < size)
  return done > size ? 'more' : content.subarray(0, size)
}
