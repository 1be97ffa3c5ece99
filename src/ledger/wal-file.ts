// Looks at the write-ahead log without SQLite, which takes a damaged one for one that ends early and says nothing.
import { closeSync, openSync, readSync } from 'node:fs'
import { hasCode } from '../model/index.js'

const HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24
const MAGIC = 0x377f0682
const CHECKSUM_AT = 24

/** Whether transactions stand in the log that SQLite will never see: behind bytes that are wrong. */
export function isLogDamaged(path: string): boolean {
  let fd: number
  try {
    fd = openSync(path, 'r')
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false
    throw error
  }
  try {
    return isDamaged(fd)
  } finally {
    closeSync(fd)
  }
}

function isDamaged(fd: number): boolean {
  const header = bytesAt(fd, 0, HEADER_BYTES)
  if (header === undefined) return false
  const magic = header.readUInt32BE(0)
  const pageBytes = header.readUInt32BE(8)
  const isHeader =
    (magic & ~1) === MAGIC &&
    pageBytes >= 512 &&
    pageBytes <= 65_536 &&
    Number.isInteger(Math.log2(pageBytes))
  // A new log is written from its start: half a header has nothing behind it.
  if (!isHeader) return bytesAt(fd, HEADER_BYTES, FRAME_HEADER_BYTES) !== undefined
  const isBigEndian = (magic & 1) === 1
  const salts = header.subarray(16, 24)
  let sums = checksum([0, 0], header.subarray(0, CHECKSUM_AT), isBigEndian)
  let isChainWhole = matches(sums, header, CHECKSUM_AT)
  const frameBytes = FRAME_HEADER_BYTES + pageBytes
  for (let at = HEADER_BYTES; ; at += frameBytes) {
    const frame = bytesAt(fd, at, frameBytes)
    if (frame === undefined || !frame.subarray(8, 16).equals(salts)) return false
    if (isChainWhole) {
      sums = checksum(sums, frame.subarray(0, 8), isBigEndian)
      sums = checksum(sums, frame.subarray(FRAME_HEADER_BYTES), isBigEndian)
      isChainWhole = matches(sums, frame, 16)
    }
    // The last frame of a transaction says how large the database is then.
    if (!isChainWhole && frame.readUInt32BE(4) !== 0) return true
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
