// A zlib stream (RFC 1950 and 1951) of a content, the same for the same bytes.
import { adler32 } from './adler32'
import { sendBlock } from './block'
import { align, beginOutput, endOfOutput, flush, put } from './output'
import {
  DISTANCE_COUNTS,
  EXTRA,
  INPUT,
  LITERAL_COUNTS,
  OUTPUT,
  REVERSED,
  SHORTEST,
  SYMBOL_OF_LENGTH,
} from './places'
import { endContent, findSequences } from './sequences'

const ZLIB_HEAD: u32 = 0x0178
const LAST_SYMBOL: i32 = 28
const LONGEST: i32 = 258

export function beginDeflate(): void {
  let length = 3
  for (let symbol = 0; symbol < LAST_SYMBOL; symbol++) {
    const extra = symbol < 8 ? 0 : (symbol - 4) >> 2
    store<u16>(SHORTEST + (symbol << 1), <u16>length)
    store<u8>(EXTRA + symbol, <u8>extra)
    for (const end = length + (1 << extra); length < end; length++)
      store<u8>(SYMBOL_OF_LENGTH + length, <u8>symbol)
  }
  // The longest has a symbol of its own.
  store<u16>(SHORTEST + (LAST_SYMBOL << 1), <u16>LONGEST)
  store<u8>(SYMBOL_OF_LENGTH + LONGEST, <u8>LAST_SYMBOL)
  for (let byte = 0; byte < 256; byte++) {
    let reversed = 0
    for (let bit = 0; bit < 8; bit++) if (byte & (1 << bit)) reversed |= 0x80 >> bit
    store<u8>(REVERSED + byte, <u8>reversed)
  }
}

/** Of the first `size` bytes at INPUT, at most MOST_BYTES: the length of the zlib stream that is at OUTPUT then. */
export function deflate(size: i32): i32 {
  beginOutput(OUTPUT)
  put(ZLIB_HEAD, 16)
  flush()
  let at = 0
  do {
    memory.fill(LITERAL_COUNTS, 0, 288 << 2)
    memory.fill(DISTANCE_COUNTS, 0, 32 << 2)
    const end = findSequences(INPUT, at, size)
    sendBlock(INPUT, at, end, end == size)
    at = end
  } while (at < size)
  endContent(size)
  align()
  put(bswap(adler32(INPUT, size)), 32)
  flush()
  return <i32>(endOfOutput() - OUTPUT)
}
