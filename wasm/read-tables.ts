// The codes that a block tells, as tables to look them up in; and those that everybody knows.
import { knownWidth } from './block'
import {
  addSymbol,
  beginLists,
  END,
  LITERAL,
  makeTable,
  OUT_OF_LINE,
  takeLists,
} from './decode-table'
import { bitsRead, countRead, goOnReading, isPastEnd, nextInput, refill, take } from './input'
import {
  BOTH_WIDTHS,
  DISTANCE_LISTS,
  DISTANCE_MEANINGS,
  DISTANCE_TABLE,
  EXTRA,
  KNOWN_DISTANCE_TABLE,
  KNOWN_LITERAL_TABLE,
  LITERAL_LISTS,
  LITERAL_MEANINGS,
  LITERAL_TABLE,
  NEXT_DISTANCE,
  NEXT_LITERAL,
  SHORTEST,
  TOLD_SYMBOLS,
  WIDTH_TABLE,
} from './places'
import { extraOfDistance } from './sequences'
import { symbolToldAt } from './widths'

const LITERAL_BITS: i32 = 11
const DISTANCE_BITS: i32 = 8
const WIDTH_BITS: i32 = 7
export const KNOWN_LITERAL_BITS: i32 = 9
export const KNOWN_DISTANCE_BITS: i32 = 5

const END_SYMBOL: i32 = 256
const MOST_LITERALS: i32 = 286
const MOST_DISTANCES: i32 = 30
const WIDTHS: i32 = 19
const REPEAT: u32 = 16
const FEW_ZEROS: u32 = 17
/** Of one list: the known codes have symbols that stand for nothing, too. */
const LITERAL_LIST_BYTES: usize = 288 << 2
const DISTANCE_LIST_BYTES: usize = 32 << 2

/** How many bits of the tables that were read last are looked up at once. */
export let literalBits: i32 = 0
export let distanceBits: i32 = 0

/** After `beginDeflate`, which knows the lengths. */
export function beginTables(): void {
  for (let literal = 0; literal < 256; literal++) mean(LITERAL_MEANINGS, literal, literal, LITERAL)
  mean(LITERAL_MEANINGS, END_SYMBOL, 0, OUT_OF_LINE | END)
  for (let symbol = 0; symbol < 29; symbol++) {
    const shortest = load<u16>(SHORTEST + (symbol << 1))
    mean(LITERAL_MEANINGS, END_SYMBOL + 1 + symbol, shortest, load<u8>(EXTRA + symbol))
  }
  for (let symbol = MOST_LITERALS; symbol < 288; symbol++)
    mean(LITERAL_MEANINGS, symbol, 0, OUT_OF_LINE)
  let nearest: u32 = 1
  for (let symbol = 0; symbol < MOST_DISTANCES; symbol++) {
    const extra = extraOfDistance(symbol)
    mean(DISTANCE_MEANINGS, symbol, nearest, extra)
    nearest += 1 << extra
  }
  for (let symbol = MOST_DISTANCES; symbol < 32; symbol++)
    mean(DISTANCE_MEANINGS, symbol, 0, OUT_OF_LINE)
  for (let at = 0; at < WIDTHS; at++) store<u8>(TOLD_SYMBOLS + at, <u8>symbolToldAt(at))
  makeKnownTables()
}

function mean(meanings: usize, symbol: i32, value: u32, kind: u32): void {
  store<u32>(meanings + (symbol << 2), (value << 16) | kind)
}

function makeKnownTables(): void {
  beginLists(LITERAL_LISTS, LITERAL_LIST_BYTES, NEXT_LITERAL)
  for (let symbol = 0; symbol < 288; symbol++)
    addSymbol(NEXT_LITERAL, knownWidth(symbol), load<u32>(LITERAL_MEANINGS + (symbol << 2)))
  takeLists(LITERAL_LISTS, LITERAL_LIST_BYTES, NEXT_LITERAL)
  makeTable(KNOWN_LITERAL_TABLE, KNOWN_LITERAL_BITS)
  beginLists(DISTANCE_LISTS, DISTANCE_LIST_BYTES, NEXT_DISTANCE)
  for (let symbol = 0; symbol < 32; symbol++)
    addSymbol(NEXT_DISTANCE, KNOWN_DISTANCE_BITS, load<u32>(DISTANCE_MEANINGS + (symbol << 2)))
  takeLists(DISTANCE_LISTS, DISTANCE_LIST_BYTES, NEXT_DISTANCE)
  makeTable(KNOWN_DISTANCE_TABLE, KNOWN_DISTANCE_BITS)
}

/** False if no reader takes such codes. */
export function readTables(): bool {
  refill()
  const literals = <i32>take(5) + 257
  const distances = <i32>take(5) + 1
  const told = <i32>take(4) + 4
  if (literals > MOST_LITERALS || distances > MOST_DISTANCES) return false
  const widthBits = readWidthTable(told)
  if (widthBits < 0 || !readWidths(literals, literals + distances, widthBits)) return false
  if (isPastEnd()) return false
  takeLists(LITERAL_LISTS, LITERAL_LIST_BYTES, NEXT_LITERAL)
  literalBits = makeTable(LITERAL_TABLE, LITERAL_BITS)
  takeLists(DISTANCE_LISTS, DISTANCE_LIST_BYTES, NEXT_DISTANCE)
  distanceBits = makeTable(DISTANCE_TABLE, DISTANCE_BITS)
  return literalBits > 0 && distanceBits > 0
}

/** Of the code in which the widths of the others are told; less than 0 if it is not complete. */
function readWidthTable(told: i32): i32 {
  memory.fill(BOTH_WIDTHS, 0, WIDTHS)
  for (let at = 0; at < told; at++) {
    refill()
    store<u8>(BOTH_WIDTHS + <usize>load<u8>(TOLD_SYMBOLS + at), <u8>take(3))
  }
  beginLists(DISTANCE_LISTS, DISTANCE_LIST_BYTES, NEXT_DISTANCE)
  for (let symbol = 0; symbol < WIDTHS; symbol++)
    addSymbol(NEXT_DISTANCE, load<u8>(BOTH_WIDTHS + symbol), symbol << 16)
  const unused = takeLists(DISTANCE_LISTS, DISTANCE_LIST_BYTES, NEXT_DISTANCE)
  return unused == 0 ? makeTable(WIDTH_TABLE, WIDTH_BITS) : -1
}

/** Puts each symbol on the list of its width. There must be one for the end of the block. */
function readWidths(literals: i32, total: i32, widthBits: i32): bool {
  beginLists(LITERAL_LISTS, LITERAL_LIST_BYTES, NEXT_LITERAL)
  beginLists(DISTANCE_LISTS, DISTANCE_LIST_BYTES, NEXT_DISTANCE)
  const mask: u64 = (1 << widthBits) - 1
  let next = nextInput()
  let bits = bitsRead()
  let count = countRead()
  let width: u32 = 0
  let hasEnd = false
  for (let at = 0; at < total; ) {
    bits |= load<u64>(next) << count
    next += <usize>((63 - count) >> 3)
    count |= 56
    const entry = load<u32>(WIDTH_TABLE + ((<usize>(bits & mask)) << 2))
    bits >>= entry & 63
    count -= entry & 63
    const told = entry >> 16
    let end = at + 1
    if (told < REPEAT) {
      width = told
    } else {
      if (told == REPEAT && at == 0) return false
      if (told > REPEAT) width = 0
      const extra: u64 = told == REPEAT ? 2 : told == FEW_ZEROS ? 3 : 7
      end = at + (told > FEW_ZEROS ? 11 : 3) + <i32>(bits & (((<u64>1) << extra) - 1))
      bits >>= extra
      count -= extra
      if (end > total) return false
    }
    if (width == 0) {
      at = end
      continue
    }
    for (; at < end; at++) {
      if (at == END_SYMBOL) hasEnd = true
      if (at < literals) addSymbol(NEXT_LITERAL, width, load<u32>(LITERAL_MEANINGS + (at << 2)))
      else addSymbol(NEXT_DISTANCE, width, load<u32>(DISTANCE_MEANINGS + ((at - literals) << 2)))
    }
  }
  goOnReading(next, bits, count)
  return hasEnd
}
