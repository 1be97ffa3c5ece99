// The agent's file of its conversation, read from where the last reading ended: an event costs what is new in the
// file. The agent writes it meanwhile, so a line that is not ended is left for the next event, and a file that is
// gone, or another one by now, is nothing unusual.
import { createHash } from 'node:crypto'
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import { fieldsOf } from '../../base/index.js'

/** Up to where a file is copied. */
export type Position = {
  readonly path: string
  readonly bytes: number
  /** Of the last bytes before it: a file that has others there is another file. */
  readonly tail: string
}

export type Growth = {
  readonly lines: readonly string[]
  readonly position: Position
  /** The lines are the beginning of a file, and follow nothing. */
  readonly isAnew: boolean
}

/** More comes with the next events: a hook must not take long. */
const MAX_BYTES = 8 * 1024 * 1024
/** A line that is longer, such as one with a picture in it, is taken all the same. */
const MAX_LINE_BYTES = 128 * 1024 * 1024
const TAIL_BYTES = 1024
const NEWLINE = 0x0a

/** Undefined if nothing can be read there: no file, or one that has no whole line. */
export function readGrowth(path: string, known: Position | undefined): Growth | undefined {
  // Reading a pipe would wait for its writer.
  const fd = isAbsolute(path) ? openIfThere(path) : undefined
  if (fd === undefined) return undefined
  try {
    const stat = fstatSync(fd)
    if (!stat.isFile()) return undefined
    const follows = known !== undefined && known.path === path && isSame(fd, known)
    const from = follows ? known.bytes : 0
    const bytes = readLines(fd, { from, bytes: stat.size - from })
    if (bytes.length === 0)
      return follows ? { lines: [], position: known, isAnew: false } : undefined
    const to = from + bytes.length
    return {
      lines: bytes.toString('utf8').slice(0, -1).split('\n'),
      position: { path, bytes: to, tail: tailAt(fd, to) },
      isAnew: !follows,
    }
  } finally {
    closeSync(fd)
  }
}

/** Undefined for what is not of this form: the file is read from its beginning then. */
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

function isSame(fd: number, { bytes, tail }: Position): boolean {
  return fstatSync(fd).size >= bytes && tailAt(fd, bytes) === tail
}

function tailAt(fd: number, end: number): string {
  const from = Math.max(0, end - TAIL_BYTES)
  const bytes = readAt(fd, { from, bytes: end - from })
  return createHash('sha256').update(bytes).digest('hex').slice(0, 32)
}

/** Whole lines, at least one if there is any; none if that one is far too long. */
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

/** Less than asked for if the file has become shorter. */
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

function openIfThere(path: string): number | undefined {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch (error) {
    const isGone =
      error instanceof Error &&
      'code' in error &&
      (error.code === 'ENOENT' || error.code === 'ENOTDIR')
    if (isGone) return undefined
    throw error
  }
}
