// The content as sequences: literals, then a match with what stood at most 32 KB before, and so on. A match is taken where it is
// found: at the latest place where the next four bytes may stand.
import {
  DISTANCE_COUNTS,
  EXTRA,
  LATEST,
  LATEST_BYTES,
  LITERAL_COUNTS,
  MOST_SEQUENCES,
  SEQUENCES,
  SYMBOL_OF_LENGTH,
} from './places'

const HASH_BITS: u32 = 14
const WINDOW: i32 = 32768
const LONGEST: i32 = 258
const SHORTEST_MATCH: i32 = 4
/** Not so close to the end: eight bytes are read at once. */
const NO_MATCH_BYTES: i32 = 8
/** What has not repeated for so long is passed over, a little faster each time. */
const PATIENCE_BITS: i32 = 6
const LAST_BASE: i32 = 0x70000000

/** Places are counted on from one content to the next: what is below is of an earlier one, so nothing has to be cleared. */
let base: i32 = 1

export let sequenceCount: i32 = 0
/** Of all lengths and distances. */
export let extraBits: i32 = 0

/** The next content begins. */
export function endContent(size: i32): void {
  base += size
  if (base < LAST_BASE) return
  memory.fill(LATEST, 0, LATEST_BYTES)
  base = 1
}

export function symbolOfDistance(distance: i32): i32 {
  const less = distance - 1
  if (less < 4) return less
  const high = 31 - clz(less)
  return (high << 1) + ((less >> (high - 1)) & 1)
}

export function extraOfDistance(symbol: i32): i32 {
  return symbol < 4 ? 0 : (symbol >> 1) - 1
}

/** From a place on, as many as make one block; the place behind them. */
export function findSequences(from: usize, start: i32, size: i32): i32 {
  let at = start
  let next = start
  const last = size - NO_MATCH_BYTES
  sequenceCount = 0
  extraBits = 0
  while (at < last) {
    const bytes = load<u32>(from + at)
    const slot = slotOf(bytes)
    const latest = load<i32>(slot)
    const here = base + at
    store<i32>(slot, here)
    const other = from + (latest - base)
    if (latest < max(base, here - WINDOW) || load<u32>(other) != bytes) {
      at += 1 + ((at - next) >> PATIENCE_BITS)
      continue
    }
    const length = matchLength(from + at, other, min(LONGEST, size - at))
    add(from, next, at, length, here - latest)
    const end = at + length
    // Not every place in the match: that would cost more than it finds.
    if (end < last) {
      remember(from, at + 1)
      remember(from, at + 2)
      remember(from, end - 2)
      remember(from, end - 1)
    }
    at = next = end
    if (sequenceCount == MOST_SEQUENCES - 1) return at
  }
  add(from, next, size, 0, 0)
  return size
}

function slotOf(bytes: u32): usize {
  return LATEST + ((<usize>((bytes * 0x9e3779b1) >> (32 - HASH_BITS))) << 2)
}

function remember(from: usize, at: i32): void {
  const slot = slotOf(load<u32>(from + at))
  store<i32>(slot, base + at)
}

function matchLength(one: usize, other: usize, most: i32): i32 {
  let length = SHORTEST_MATCH
  while (length + 8 <= most) {
    const different = load<u64>(one + length) ^ load<u64>(other + length)
    if (different != 0) return length + <i32>(ctz(different) >> 3)
    length += 8
  }
  while (length < most && load<u8>(one + length) == load<u8>(other + length)) length++
  return length
}

/** A length of 0: nothing comes behind the literals. */
function add(from: usize, start: i32, end: i32, length: i32, distance: i32): void {
  const at = SEQUENCES + (sequenceCount << 3)
  store<u32>(at, end - start)
  store<u32>(at, (distance << 16) | length, 4)
  sequenceCount++
  for (let p = from + start; p < from + end; p++) count(LITERAL_COUNTS, load<u8>(p))
  if (length == 0) return
  const symbol = load<u8>(SYMBOL_OF_LENGTH + length)
  count(LITERAL_COUNTS, 257 + <u32>symbol)
  const far = symbolOfDistance(distance)
  count(DISTANCE_COUNTS, far)
  extraBits += load<u8>(EXTRA + symbol) + extraOfDistance(far)
}

export function count(counts: usize, symbol: u32): void {
  const at = counts + ((<usize>symbol) << 2)
  store<u32>(at, load<u32>(at) + 1)
}
