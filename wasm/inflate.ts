// Expands a zlib stream (RFC 1950 and 1951), and takes what zlib takes. Whatever a stream says, it stays in its places: it
// reads and writes a little over the ends, within SLACK, and looks afterwards whether it did.
import { adler32 } from './adler32'
import { expandBlock } from './expand'
import {
  alignInput,
  beginInput,
  bytesLeft,
  goOnReading,
  isPastEnd,
  nextInput,
  refill,
  take,
} from './input'
import {
  DISTANCE_TABLE,
  EXPANDED,
  INPUT,
  INPUT_BYTES,
  KNOWN_DISTANCE_TABLE,
  KNOWN_LITERAL_TABLE,
  LITERAL_TABLE,
  MOST_BYTES,
} from './places'
import {
  beginTables,
  distanceBits,
  KNOWN_DISTANCE_BITS,
  KNOWN_LITERAL_BITS,
  literalBits,
  readTables,
} from './read-tables'

const NOTHING: i32 = -1
const DEFLATED: u32 = 8
const WIDEST_WINDOW: u32 = 7
const NEEDS_DICTIONARY: u32 = 0x20
const AS_IT_IS: u32 = 0
const KNOWN_CODES: u32 = 1
const OWN_CODES: u32 = 2
const SUM_BYTES: i32 = 4

export function beginInflate(): void {
  beginTables()
}

/**
 * The stream that `bytes` at INPUT begin with, which must hold `size` bytes: they are at EXPANDED then. How many
 * bytes the stream took, or less than 0 if it is damaged, does not end, or holds more or less.
 */
export function inflate(bytes: i32, size: i32): i32 {
  if (<u32>bytes > <u32>INPUT_BYTES || <u32>size > <u32>MOST_BYTES) return NOTHING
  beginInput(INPUT, bytes)
  refill()
  if (!isHead(take(8), take(8))) return NOTHING
  const end = EXPANDED + size
  let out = EXPANDED
  let isLast = false
  while (!isLast) {
    refill()
    if (isPastEnd()) return NOTHING
    isLast = take(1) == 1
    out = takeBlock(take(2), out, end)
    if (out == 0) return NOTHING
  }
  if (out != end) return NOTHING
  alignInput()
  if (bytesLeft() < SUM_BYTES) return NOTHING
  if (bswap(load<u32>(nextInput())) != adler32(EXPANDED, size)) return NOTHING
  return <i32>(nextInput() - INPUT) + SUM_BYTES
}

function isHead(method: u32, flags: u32): bool {
  if ((method & 15) != DEFLATED || method >> 4 > WIDEST_WINDOW) return false
  return ((method << 8) | flags) % 31 == 0 && (flags & NEEDS_DICTIONARY) == 0
}

/** The place behind what it held, or 0 if it is damaged or holds too much. */
function takeBlock(form: u32, out: usize, end: usize): usize {
  if (form == AS_IT_IS) return takeAsItIs(out, end)
  if (form == KNOWN_CODES)
    return expandBlock(
      out,
      end,
      KNOWN_LITERAL_TABLE,
      KNOWN_LITERAL_BITS,
      KNOWN_DISTANCE_TABLE,
      KNOWN_DISTANCE_BITS,
    )
  if (form != OWN_CODES || !readTables()) return 0
  return expandBlock(out, end, LITERAL_TABLE, literalBits, DISTANCE_TABLE, distanceBits)
}

function takeAsItIs(out: usize, end: usize): usize {
  alignInput()
  if (bytesLeft() < 4) return 0
  const from = nextInput() + 4
  const sizes = load<u32>(from - 4)
  const size: i32 = sizes & 0xffff
  if (sizes >> 16 != (~sizes & 0xffff)) return 0
  if (size > bytesLeft() - 4 || size > <i32>(end - out)) return 0
  memory.copy(out, from, size)
  goOnReading(from + size, 0, 0)
  return out + size
}
