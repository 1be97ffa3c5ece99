// Reads a file so that what comes back was its content at one moment, or says why not.
import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  openSync,
  readlinkSync,
  readSync,
} from 'node:fs'
import { fsPath, hasCode, type ObjectId } from '../../../model/index.js'
import { blobIdInPlace, HEADER_ROOM, objectIdOf } from '../../objects/object-id.js'
import { isSettled, isUnreadable, lstat, type Stats, stampText } from '../stat-cache/stats.js'

/** `gone`: it has vanished since it was listed. `large`: too large to be read whole. */
export type ReadFault = 'unreadable' | 'unstable' | 'gone' | 'large'
export type StableRead = {
  readonly content: Buffer
  readonly stats: BigIntStats
  readonly readAtMs: number
}

export type HashedRead = StableRead & { readonly id: ObjectId }

const ATTEMPTS = 3
const LARGE_WRITE_BYTES = 64 << 10
const PAUSE_MS = 5
const BULK_BYTES = 256 << 10
// No link is followed and no pipe waited for, whatever was swapped in since the listing.
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
      // Some files, as those of /proc, hold more than they say: how much of it belongs to them nobody knows.
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

/**
 * The same for reading many files: one look instead of two, and no memory of its own for each. A file that
 * last changed well before it was opened, as nearly all did, was not changed while it was read. The content
 * is valid until the next read.
 */
export class BulkReader {
  /** The content comes after room for the head that it is hashed with. */
  readonly #buffer = Buffer.allocUnsafeSlow(HEADER_ROOM + BULK_BYTES)

  read(path: string, maxBytes: number): HashedRead | ReadFault {
    const fd = openForReading(path)
    if (typeof fd === 'string') return fd
    try {
      const readAtMs = Date.now()
      const size = readSync(fd, this.#buffer, HEADER_ROOM, BULK_BYTES, 0)
      const stats = fstatSync(fd, BIGINT)
      const isWhole = stats.isFile() && Number(stats.size) === size && size < maxBytes
      if (isWhole && isSettled(stats, readAtMs)) {
        const content = this.#buffer.subarray(HEADER_ROOM, HEADER_ROOM + size)
        return { id: blobIdInPlace(content), content, stats, readAtMs }
      }
    } catch (error) {
      if (isUnreadable(error)) return 'unreadable'
      // A pipe has taken the place of the file.
      if (!hasCode(error, 'ESPIPE')) throw error
    } finally {
      closeSync(fd)
    }
    const read = readStable(path, maxBytes)
    return typeof read === 'string' ? read : { id: objectIdOf('blob', read.content), ...read }
  }
}

export function readLink(path: string): Buffer | ReadFault {
  try {
    return readlinkSync(fsPath(path), { encoding: 'buffer' })
  } catch (error) {
    // ELOOP: a folder above has become a link to itself.
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP')) return 'gone'
    if (hasCode(error, 'EINVAL')) return 'unstable'
    if (isUnreadable(error)) return 'unreadable'
    throw error
  }
}

/** The stamp is that of this target: a folder above may be another one for a moment, and then the first again. */
export function readStableLink(
  path: string,
): { readonly target: Buffer; readonly stats: Stats; readonly readAtMs: number } | ReadFault {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const readAtMs = Date.now()
    const before = lstat(path)
    const target = readLink(path)
    const after = lstat(path)
    if (typeof target === 'string') return target
    if (before === undefined || after === undefined) continue
    if (before === 'unreadable' || after === 'unreadable') return 'unreadable'
    if (stampText(before) === stampText(after)) return { target, stats: after, readAtMs }
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

/** As much of it as is there, up to so many bytes. */
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
 * Two writes within one tick of the clock leave one stamp, and a read between them is torn. So what was
 * written just now is read twice.
 */
function isSteady(fd: number, content: Buffer, stats: BigIntStats): boolean {
  if (isSettled(stats, Date.now())) return true
  // A large write can be held up half-way, and then two reads at once agree on half of it.
  if (content.length > LARGE_WRITE_BYTES)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS)
  const again = readExactly(fd, content.length)
  return typeof again !== 'string' && again.equals(content)
}

/** One byte more is asked for than there should be, which costs nothing: the end shows in the same call. */
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
