// One block, in the form that is shortest: with codes of its own, with those that everybody knows, or as it is.
import { bitsOf, codeOf, makeCode, numberCode, widthOf } from './code'
import { align, endOfOutput, flush, goOn, pendingBits, pendingCount, put, putBytes } from './output'
import {
  COUNT_OF_WIDTH,
  DISTANCE_CODES,
  DISTANCE_COUNTS,
  DISTANCE_WIDTHS,
  EXTRA,
  LENGTH_CODES,
  LITERAL_CODES,
  LITERAL_COUNTS,
  LITERAL_WIDTHS,
  SEQUENCES,
  SHORTEST,
} from './places'
import { count, extraBits, extraOfDistance, sequenceCount, symbolOfDistance } from './sequences'
import { planWidths, sendWidths } from './widths'

const END: i32 = 256
const LITERALS: i32 = 286
const DISTANCES: i32 = 30
const LENGTHS: i32 = 29
/** Four literals, and seven bits that wait, are together no more than 64. */
const WIDEST_LITERAL: i32 = 14
const WIDEST_DISTANCE: i32 = 15
const STORED_BYTES: i32 = 65535
const AS_IT_IS: u32 = 0
const KNOWN_CODES: u32 = 1
const OWN_CODES: u32 = 2

/** The sequences that were found in these bytes. */
export function sendBlock(from: usize, start: i32, end: i32, isLast: bool): void {
  count(LITERAL_COUNTS, END)
  makeCode(LITERAL_COUNTS, LITERALS, WIDEST_LITERAL, LITERAL_WIDTHS, LITERAL_CODES)
  makeCode(DISTANCE_COUNTS, DISTANCES, WIDEST_DISTANCE, DISTANCE_WIDTHS, DISTANCE_CODES)
  const own =
    planWidths() +
    bitsFor(LITERAL_COUNTS, LITERALS, LITERAL_WIDTHS) +
    bitsFor(DISTANCE_COUNTS, DISTANCES, DISTANCE_WIDTHS) +
    extraBits
  const known = bitsWithKnownCodes() + extraBits
  const size = end - start
  if ((size + 4 + 5 * (size / STORED_BYTES)) << 3 < min(own, known)) {
    sendAsItIs(from, start, end, isLast)
    return
  }
  if (known <= own) {
    putHead(KNOWN_CODES, isLast)
    useKnownCodes()
  } else {
    putHead(OWN_CODES, isLast)
    sendWidths()
  }
  sendSequences(from + start)
}

function putHead(form: u32, isLast: bool): void {
  put((form << 1) | (isLast ? 1 : 0), 3)
}

function bitsFor(counts: usize, size: i32, widths: usize): i32 {
  let sum = 0
  for (let symbol = 0; symbol < size; symbol++)
    sum += <i32>load<u32>(counts + (symbol << 2)) * <i32>load<u8>(widths + symbol)
  return sum
}

function bitsWithKnownCodes(): i32 {
  let sum = 0
  for (let symbol = 0; symbol < LITERALS; symbol++)
    sum += <i32>load<u32>(LITERAL_COUNTS + (symbol << 2)) * knownWidth(symbol)
  for (let symbol = 0; symbol < DISTANCES; symbol++)
    sum += <i32>load<u32>(DISTANCE_COUNTS + (symbol << 2)) * 5
  return sum
}

export function knownWidth(symbol: i32): i32 {
  if (symbol < 144) return 8
  if (symbol < 256) return 9
  return symbol < 280 ? 7 : 8
}

function useKnownCodes(): void {
  for (let symbol = 0; symbol < 288; symbol++)
    store<u8>(LITERAL_WIDTHS + symbol, <u8>knownWidth(symbol))
  memory.fill(COUNT_OF_WIDTH, 0, 64)
  store<u32>(COUNT_OF_WIDTH, 24, 7 << 2)
  store<u32>(COUNT_OF_WIDTH, 152, 8 << 2)
  store<u32>(COUNT_OF_WIDTH, 112, 9 << 2)
  numberCode(288, LITERAL_WIDTHS, LITERAL_CODES)
  memory.fill(DISTANCE_WIDTHS, 5, 32)
  memory.fill(COUNT_OF_WIDTH, 0, 64)
  store<u32>(COUNT_OF_WIDTH, 32, 5 << 2)
  numberCode(32, DISTANCE_WIDTHS, DISTANCE_CODES)
}

function sendAsItIs(from: usize, start: i32, end: i32, isLast: bool): void {
  let at = start
  do {
    const size = min(STORED_BYTES, end - at)
    putHead(AS_IT_IS, isLast && at + size == end)
    align()
    put(size | (~size << 16), 32)
    flush()
    putBytes(from + at, size)
    at += size
  } while (at < end)
}

/** What a length is sent as, its extra bits included: looked up once for each match, and not put together. */
function makeLengthCodes(): void {
  for (let symbol = 0; symbol < LENGTHS; symbol++) {
    const code = load<u32>(LITERAL_CODES + ((END + 1 + symbol) << 2))
    const extra: u32 = load<u8>(EXTRA + symbol)
    const width = widthOf(code)
    let place = LENGTH_CODES + ((<usize>load<u16>(SHORTEST + (symbol << 1))) << 2)
    for (let more: u32 = 0; more < (<u32>1) << extra; more++, place += 4)
      store<u32>(place, codeOf(bitsOf(code) | (more << width), width + extra))
  }
}

function sendSequences(from: usize): void {
  makeLengthCodes()
  let p = from
  let out = endOfOutput()
  let bits = pendingBits()
  let waiting = pendingCount()
  for (let at = SEQUENCES; at < SEQUENCES + (sequenceCount << 3); at += 8) {
    let literals: i32 = load<u32>(at)
    for (; literals >= 4; literals -= 4, p += 4) {
      const four = load<u32>(p)
      const a = load<u32>(LITERAL_CODES + ((four & 255) << 2))
      const b = load<u32>(LITERAL_CODES + (((four >> 8) & 255) << 2))
      const c = load<u32>(LITERAL_CODES + (((four >> 16) & 255) << 2))
      const d = load<u32>(LITERAL_CODES + ((four >> 24) << 2))
      bits |= (<u64>bitsOf(a)) << waiting
      waiting += widthOf(a)
      bits |= (<u64>bitsOf(b)) << waiting
      waiting += widthOf(b)
      bits |= (<u64>bitsOf(c)) << waiting
      waiting += widthOf(c)
      bits |= (<u64>bitsOf(d)) << waiting
      waiting += widthOf(d)
      store<u64>(out, bits)
      out += <usize>(waiting >> 3)
      bits >>= waiting & ~7
      waiting &= 7
    }
    for (; literals > 0; literals--, p++) {
      const a = load<u32>(LITERAL_CODES + ((<usize>load<u8>(p)) << 2))
      bits |= (<u64>bitsOf(a)) << waiting
      waiting += widthOf(a)
    }
    store<u64>(out, bits)
    out += <usize>(waiting >> 3)
    bits >>= waiting & ~7
    waiting &= 7
    const length = load<u32>(at, 4) & 0xffff
    if (length == 0) continue
    const near = load<u32>(LENGTH_CODES + (length << 2))
    bits |= (<u64>bitsOf(near)) << waiting
    waiting += widthOf(near)
    const distance: i32 = load<u32>(at, 4) >> 16
    const symbol = symbolOfDistance(distance)
    const far = load<u32>(DISTANCE_CODES + (symbol << 2))
    bits |= (<u64>bitsOf(far)) << waiting
    waiting += widthOf(far)
    const extra = extraOfDistance(symbol)
    bits |= (<u64>((distance - 1) & ((1 << extra) - 1))) << waiting
    waiting += extra
    store<u64>(out, bits)
    out += <usize>(waiting >> 3)
    bits >>= waiting & ~7
    waiting &= 7
    p += length
  }
  goOn(out, bits, waiting)
  const end = load<u32>(LITERAL_CODES + (END << 2))
  put(bitsOf(end), widthOf(end))
  flush()
}
