// Reads the agent's transcript from where the last read ended, so that an event costs only the new lines. The agent
// appends concurrently: an incomplete last line waits for the next event, and the file may be missing or replaced.
import { createHash } from 'node:crypto'
import { closeSync, constants, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import { fieldsOf, hasCode } from '../../base/index.js'

/** The end of the copied part of a file. */
export type Position = {
  readonly path: string
  readonly bytes: number
  /** Hash of the last bytes before it, to detect that the file was replaced. */
  readonly tail: string
}

export type Growth = {
  readonly lines: readonly string[]
  readonly position: Position
  /** The lines start the file, instead of following the known position. */
  readonly isFromStart: boolean
}

/** Per event, because a hook must be fast. The next events read the rest. */
const MAX_BYTES = 8 * 1024 * 1024
/** A line that is longer than MAX_BYTES, such as one with an image, is read up to this size. */
const MAX_LINE_BYTES = 128 * 1024 * 1024
const TAIL_BYTES = 1024
const NEWLINE = 0x0a

/** Undefined if there is no file, or no complete line in it. */
export function readGrowth(path: string, known: Position | undefined): Growth | undefined {
  // Reading a pipe would wait for its writer.
  const fd = isAbsolute(path) ? openIfExists(path) : undefined
  if (fd === undefined) return undefined
  try {
    const stat = fstatSync(fd)
    if (!stat.isFile()) return undefined
    const follows = known !== undefined && known.path === path && isSame(fd, known)
    const from = follows ? known.bytes : 0
    const bytes = readLines(fd, { from, bytes: stat.size - from })
    if (bytes.length === 0)
      return follows ? { lines: [], position: known, isFromStart: false } : undefined
    const to = from + bytes.length
    return {
      lines: bytes.toString('utf8').slice(0, -1).split('\n'),
      position: { path, bytes: to, tail: hashTail(fd, to) },
      isFromStart: !follows,
    }
  } finally {
    closeSync(fd)
  }
}

/** Undefined if malformed: the file is then read from its start. */
export function parsePosition(value: unknown): Position | undefined {
  const { path, bytes, tail } = fieldsOf(value)
  const isPosition =
    typeof path === 'string' &&
    typeof tail === 'string' &&
    typeof bytes === 'number' &&
    Number.isSafeInteger(bytes) &&
    bytes > 0
  return isPosition ? { path, bytes, tail } : undefined
}

/**
 * The lines that the next hook of a session will copy, such as the last answer, after which no hook saves. `metadata` is that
 * of the session's head. None if the file is gone, was replaced or cannot be read.
 */
export function readUncopied(metadata: unknown): readonly string[] {
  const known = parsePosition(fieldsOf(metadata)['copied'])
  if (known === undefined) return []
  try {
    const growth = readGrowth(known.path, known)
    return growth === undefined || growth.isFromStart ? [] : growth.lines
  } catch (error) {
    // The stored part can still be read.
    if (hasCode(error, 'EACCES', 'EPERM')) return []
    throw error
  }
}

/** The present size of the transcript of a session; null if the session has none, or the file is gone. `metadata` as above. */
export function transcriptBytes(metadata: unknown): number | null {
  const known = parsePosition(fieldsOf(metadata)['copied'])
  if (known === undefined) return null
  try {
    return statSync(known.path).size
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'EACCES', 'EPERM')) return null
    throw error
  }
}

function isSame(fd: number, { bytes, tail }: Position): boolean {
  return fstatSync(fd).size >= bytes && hashTail(fd, bytes) === tail
}

function hashTail(fd: number, end: number): string {
  const from = Math.max(0, end - TAIL_BYTES)
  const bytes = readAt(fd, { from, bytes: end - from })
  return createHash('sha256').update(bytes).digest('hex').slice(0, 32)
}

/** Complete lines, at least one if there is any; none if the first exceeds MAX_LINE_BYTES. */
function readLines(
  fd: number,
  { from, bytes }: { readonly from: number; readonly bytes: number },
): Buffer {
  for (let most = MAX_BYTES; most <= MAX_LINE_BYTES; most *= 2) {
    const read = readAt(fd, { from, bytes: Math.min(bytes, most) })
    const end = read.lastIndexOf(NEWLINE) + 1
    if (end > 0 || bytes <= most) return read.subarray(0, end)
  }
  return Buffer.alloc(0)
}

/** Returns fewer bytes if the file has become shorter. */
function readAt(
  fd: number,
  { from, bytes }: { readonly from: number; readonly bytes: number },
): Buffer {
  const buffer = Buffer.alloc(bytes)
  let done = 0
  while (done < bytes) {
    const count = readSync(fd, buffer, done, bytes - done, from + done)
    if (count === 0) break
    done += count
  }
  return buffer.subarray(0, done)
}

function openIfExists(path: string): number | undefined {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined
    throw error
  }
}

/** The path of the transcript that a session was copied from, if the file is still the same one. `metadata` as above. */
export function transcriptOf(metadata: unknown): string | undefined {
  const known = parsePosition(fieldsOf(metadata)['copied'])
  const fd = known !== undefined && isAbsolute(known.path) ? openIfExists(known.path) : undefined
  if (known === undefined || fd === undefined) return undefined
  try {
    return fstatSync(fd).isFile() && isSame(fd, known) ? known.path : undefined
  } finally {
    closeSync(fd)
  }
}

/** The complete lines at the start of a file, as many as an event would copy. */
export function readStart(fd: number): {
  readonly lines: readonly string[]
  readonly isAll: boolean
} {
  const { size } = fstatSync(fd)
  const bytes = readLines(fd, { from: 0, bytes: size })
  const lines = bytes.length === 0 ? [] : bytes.toString('utf8').slice(0, -1).split('\n')
  return { lines, isAll: size <= Math.max(bytes.length, MAX_BYTES) }
}
