// Huffman codes: how many bits each symbol takes, no more than a limit, and which.
import { COUNT_OF_WIDTH, INNER, NEXT_CODE, PARENT, PLACES, REVERSED, SORTED } from './places'

const WIDTHS: i32 = 16
const SYMBOL_BITS: u32 = 9
const SYMBOL: u32 = (1 << SYMBOL_BITS) - 1
const WIDTH_SHIFT: u32 = 24
const BITS: u32 = (1 << WIDTH_SHIFT) - 1

export function widthOf(code: u32): u32 {
  return code >> WIDTH_SHIFT
}

export function bitsOf(code: u32): u32 {
  return code & BITS
}

export function codeOf(bits: u32, width: u32): u32 {
  return bits | (width << WIDTH_SHIFT)
}

/** Always a complete code, as some readers ask for: of less than two symbols one more has its place in it. */
export function makeCode(counts: usize, size: i32, widest: i32, widths: usize, codes: usize): void {
  let used = 0
  let most: u32 = 0
  for (let symbol = 0; symbol < size; symbol++) {
    store<u8>(widths + symbol, 0)
    const times = load<u32>(counts + (symbol << 2))
    if (times == 0) continue
    store<u32>(SORTED + (used << 2), (times << SYMBOL_BITS) | symbol)
    used++
    most = max(most, times)
  }
  memory.fill(COUNT_OF_WIDTH, 0, WIDTHS << 2)
  if (used < 2) {
    const only = used == 0 ? 0 : load<u32>(SORTED) & SYMBOL
    store<u8>(widths + only, 1)
    store<u8>(widths + (only == 0 ? 1 : 0), 1)
    store<u32>(COUNT_OF_WIDTH, 2, 4)
  } else {
    sort(used, most)
    joinRarest(used)
    countWidths(used, widest)
    let next = SORTED
    for (let width = widest; width >= 1; width--)
      for (let left = load<u32>(COUNT_OF_WIDTH + (width << 2)); left > 0; left--, next += 4)
        store<u8>(widths + (load<u32>(next) & SYMBOL), <u8>width)
  }
  numberCode(size, widths, codes)
}

/** Gives the symbols their bits, as COUNT_OF_WIDTH says how many have each width. */
export function numberCode(size: i32, widths: usize, codes: usize): void {
  let bits: u32 = 0
  for (let width = 1; width < WIDTHS; width++) {
    bits = (bits + load<u32>(COUNT_OF_WIDTH + ((width - 1) << 2))) << 1
    store<u32>(NEXT_CODE + (width << 2), bits)
  }
  for (let symbol = 0; symbol < size; symbol++) {
    const width: u32 = load<u8>(widths + symbol)
    if (width == 0) continue
    const place = NEXT_CODE + (width << 2)
    const own = load<u32>(place)
    store<u32>(place, own + 1)
    const low: u32 = load<u8>(REVERSED + (own & 255))
    const high: u32 = load<u8>(REVERSED + (own >> 8))
    store<u32>(codes + (symbol << 2), codeOf(((low << 8) | high) >> (16 - width), width))
  }
}

/** The rarest first: by eight bits of their numbers at a time, which needs no comparing. */
function sort(used: i32, most: u32): void {
  for (let shift = SYMBOL_BITS; most >> (shift - SYMBOL_BITS) > 0; shift += 8) {
    memory.fill(PLACES, 0, 256 << 2)
    for (let i = 0; i < used; i++) {
      const place = PLACES + (((load<u32>(SORTED + (i << 2)) >> shift) & 255) << 2)
      store<u32>(place, load<u32>(place) + 1)
    }
    let next: u32 = 0
    for (let i = 0; i < 256; i++) {
      const here = load<u32>(PLACES + (i << 2))
      store<u32>(PLACES + (i << 2), next)
      next += here
    }
    for (let i = 0; i < used; i++) {
      const own = load<u32>(SORTED + (i << 2))
      const place = PLACES + (((own >> shift) & 255) << 2)
      const at = load<u32>(place)
      store<u32>(place, at + 1)
      store<u32>(INNER + (at << 2), own)
    }
    memory.copy(SORTED, INNER, used << 2)
  }
}

/** The two rarest become one, again and again. What was joined comes in order too, so that no search is needed. */
function joinRarest(used: i32): void {
  let leaf = 0
  let inner = 0
  for (let joined = 0; joined < used - 1; joined++) {
    let sum: u32 = 0
    for (let half = 0; half < 2; half++) {
      const times = leaf < used ? load<u32>(SORTED + (leaf << 2)) >> SYMBOL_BITS : u32.MAX_VALUE
      const others = inner < joined ? load<u32>(INNER + (inner << 2)) : u32.MAX_VALUE
      if (times <= others) {
        sum += times
        leaf++
      } else {
        sum += others
        store<u32>(PARENT + (inner << 2), joined)
        inner++
      }
    }
    store<u32>(INNER + (joined << 2), sum)
  }
}

/**
 * How many symbols have each width: from the root down, each that was joined makes two of one. One that would be too
 * wide is taken out of the widest that is not, which keeps the code complete.
 */
function countWidths(used: i32, widest: i32): void {
  const root = used - 2
  store<u32>(INNER + (root << 2), 0)
  store<u32>(COUNT_OF_WIDTH, 2, 4)
  for (let at = root - 1; at >= 0; at--) {
    const depth = load<u32>(INNER + (load<u32>(PARENT + (at << 2)) << 2)) + 1
    store<u32>(INNER + (at << 2), depth)
    let width: i32 = depth
    if (width >= widest) {
      width = widest - 1
      while (load<u32>(COUNT_OF_WIDTH + (width << 2)) == 0) width--
    }
    const place = COUNT_OF_WIDTH + (width << 2)
    store<u32>(place, load<u32>(place) - 1)
    store<u32>(place, load<u32>(place, 4) + 2, 4)
  }
}
