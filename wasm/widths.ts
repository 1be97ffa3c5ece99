// How a block tells its codes: the widths of all symbols, with runs of the same one put together, in a code of its own.
import { makeCode, bitsOf, widthOf } from './code'
import { flush, put } from './output'
import {
  BOTH_WIDTHS,
  DISTANCE_WIDTHS,
  LITERAL_WIDTHS,
  WIDTH_CODES,
  WIDTH_COUNTS,
  WIDTH_RUNS,
  WIDTH_WIDTHS,
} from './places'
import { count } from './sequences'

const SYMBOLS: i32 = 19
const WIDEST: i32 = 7
const REPEAT: i32 = 16
const FEW_ZEROS: i32 = 17
const MANY_ZEROS: i32 = 18
/** Fewer than these are never told. */
const LEAST_LITERALS: i32 = 257
const LEAST_TOLD: i32 = 4

let runCount: i32 = 0
let literalCount: i32 = 0
let distanceCount: i32 = 0
let toldCount: i32 = 0

/** After it `sendWidths` knows what to send; how many bits that will be. */
export function planWidths(): i32 {
  literalCount = 286
  while (literalCount > LEAST_LITERALS && load<u8>(LITERAL_WIDTHS + literalCount - 1) == 0)
    literalCount--
  distanceCount = 30
  while (distanceCount > 1 && load<u8>(DISTANCE_WIDTHS + distanceCount - 1) == 0) distanceCount--
  memory.copy(BOTH_WIDTHS, LITERAL_WIDTHS, literalCount)
  memory.copy(BOTH_WIDTHS + literalCount, DISTANCE_WIDTHS, distanceCount)
  findRuns(literalCount + distanceCount)
  makeCode(WIDTH_COUNTS, SYMBOLS, WIDEST, WIDTH_WIDTHS, WIDTH_CODES)
  toldCount = SYMBOLS
  while (toldCount > LEAST_TOLD && load<u8>(WIDTH_WIDTHS + symbolToldAt(toldCount - 1)) == 0)
    toldCount--
  let bits = 5 + 5 + 4 + 3 * toldCount
  for (let symbol = 0; symbol < SYMBOLS; symbol++) {
    const each = <i32>load<u8>(WIDTH_WIDTHS + symbol) + extraOf(symbol)
    bits += <i32>load<u32>(WIDTH_COUNTS + (symbol << 2)) * each
  }
  return bits
}

function findRuns(total: i32): void {
  memory.fill(WIDTH_COUNTS, 0, SYMBOLS << 2)
  runCount = 0
  for (let at = 0; at < total; ) {
    const width = load<u8>(BOTH_WIDTHS + at)
    let left = 1
    while (at + left < total && load<u8>(BOTH_WIDTHS + at + left) == width) left++
    at += left
    if (width == 0) {
      for (; left >= 11; left -= min(left, 138)) addRun(MANY_ZEROS, min(left, 138) - 11)
      if (left >= 3) {
        addRun(FEW_ZEROS, left - 3)
        left = 0
      }
    } else {
      addRun(width, 0)
      left--
      for (; left >= 3; left -= min(left, 6)) addRun(REPEAT, min(left, 6) - 3)
    }
    for (; left > 0; left--) addRun(width, 0)
  }
}

function addRun(symbol: i32, extra: i32): void {
  store<u16>(WIDTH_RUNS + (runCount << 1), <u16>(symbol | (extra << 8)))
  runCount++
  count(WIDTH_COUNTS, symbol)
}

function extraOf(symbol: i32): i32 {
  if (symbol < REPEAT) return 0
  return symbol == REPEAT ? 2 : symbol == FEW_ZEROS ? 3 : 7
}

/** 16 17 18 0 8 7 9 6 10 5 11 4 12 3 13 2 14 1 15: those first that are used most. */
export function symbolToldAt(place: i32): i32 {
  if (place < 3) return REPEAT + place
  if (place == 3) return 0
  return place & 1 ? 8 - ((place - 3) >> 1) : 8 + ((place - 4) >> 1)
}

export function sendWidths(): void {
  put(literalCount - LEAST_LITERALS, 5)
  put(distanceCount - 1, 5)
  put(toldCount - LEAST_TOLD, 4)
  flush()
  for (let place = 0; place < toldCount; place++) {
    put(load<u8>(WIDTH_WIDTHS + symbolToldAt(place)), 3)
    flush()
  }
  for (let at = 0; at < runCount; at++) {
    const run: u32 = load<u16>(WIDTH_RUNS + (at << 1))
    const symbol = run & 255
    const code = load<u32>(WIDTH_CODES + (symbol << 2))
    put(bitsOf(code), widthOf(code))
    put(run >> 8, extraOf(symbol))
    flush()
  }
}
