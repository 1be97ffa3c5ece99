// Looks at the write-ahead log without SQLite, which takes a damaged one for one that ends early and says nothing.
import { closeSync, openSync, readSync } from 'node:fs'
import { hasCode } from '../model/index.js'

const HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24
const MAGIC = 0x377f0682
const CHECKSUM_AT = 24

/** Whether transactions stand in the log that SQLite will never see: behind bytes that are wrong. */
export function isLogDamaged(path: string): boolean {
  return withLog(path, false, (fd) => {
    const header = bytesAt(fd, 0, HEADER_BYTES)
    if (header === undefined) return false
    // A new log is written from its start: half a header has nothing behind it.
    if (pageBytesIn(header) === undefined)
      return bytesAt(fd, HEADER_BYTES, FRAME_HEADER_BYTES) !== undefined
    for (const { isWhole, endsTransaction } of framesIn(fd, header))
      if (!isWhole && endsTransaction) return true
    return false
  })
}

/** The pages that a log holds, by their numbers, as the last whole transaction left them. */
export function pagesInLog(path: string): ReadonlyMap<number, Buffer> {
  const pages = new Map<number, Buffer>()
  return withLog(path, pages, (fd) => {
    const header = bytesAt(fd, 0, HEADER_BYTES)
    if (header === undefined || pageBytesIn(header) === undefined) return pages
    const begun = new Map<number, Buffer>()
    for (const { isWhole, endsTransaction, page, content } of framesIn(fd, header)) {
      if (!isWhole) break
      begun.set(page, content)
      if (!endsTransaction) continue
      for (const [number, bytes] of begun) pages.set(number, bytes)
      begun.clear()
    }
    return pages
  })
}

function withLog<T>(path: string, without: T, look: (fd: number) => T): T {
  let fd: number
  try {
    fd = openSync(path, 'r')
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return without
    throw error
  }
  try {
    return look(fd)
  } finally {
    closeSync(fd)
  }
}

function pageBytesIn(header: Buffer): number | undefined {
  const pageBytes = header.readUInt32BE(8)
  const isHeader =
    (header.readUInt32BE(0) & ~1) === MAGIC &&
    pageBytes >= 512 &&
    pageBytes <= 65_536 &&
    Number.isInteger(Math.log2(pageBytes))
  return isHeader ? pageBytes : undefined
}

type Frame = {
  /** All up to here is as it was written. */
  readonly isWhole: boolean
  readonly endsTransaction: boolean
  readonly page: number
  readonly content: Buffer
}

/** Those of the present round; what an earlier one has left stands behind them. */
function* framesIn(fd: number, header: Buffer): Generator<Frame> {
  const pageBytes = pageBytesIn(header) ?? 0
  const isBigEndian = (header.readUInt32BE(0) & 1) === 1
  const salts = header.subarray(16, 24)
  let sums = checksum([0, 0], header.subarray(0, CHECKSUM_AT), isBigEndian)
  let isWhole = matches(sums, header, CHECKSUM_AT)
  const frameBytes = FRAME_HEADER_BYTES + pageBytes
  for (let at = HEADER_BYTES; ; at += frameBytes) {
    const frame = bytesAt(fd, at, frameBytes)
    if (frame === undefined || !frame.subarray(8, 16).equals(salts)) return
    const content = frame.subarray(FRAME_HEADER_BYTES)
    if (isWhole) {
      sums = checksum(sums, frame.subarray(0, 8), isBigEndian)
      sums = checksum(sums, content, isBigEndian)
      isWhole = matches(sums, frame, 16)
    }
    // The last frame of a transaction says how large the database is then.
    const endsTransaction = frame.readUInt32BE(4) !== 0
    yield { isWhole, endsTransaction, page: frame.readUInt32BE(0), content }
  }
}

type Sums = readonly [number, number]

/** As SQLite has it: two sums over pairs of words. */
function checksum([first, second]: Sums, bytes: Buffer, isBigEndian: boolean): Sums {
  let [a, b] = [first, second]
  const word = (at: number) => (isBigEndian ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at))
  for (let at = 0; at + 8 <= bytes.length; at += 8) {
    a = (a + word(at) + b) >>> 0
    b = (b + word(at + 4) + a) >>> 0
  }
  return [a, b]
}

function matches([a, b]: Sums, bytes: Buffer, at: number): boolean {
  return bytes.readUInt32BE(at) === a && bytes.readUInt32BE(at + 4) === b
}

function bytesAt(fd: number, at: number, length: number): Buffer | undefined {
  const bytes = Buffer.allocUnsafe(length)
  return readSync(fd, bytes, 0, length, at) === length ? bytes : undefined
}
