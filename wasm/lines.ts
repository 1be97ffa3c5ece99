// Counts the ends of lines, sixteen bytes at a time.
import { total } from './lanes'

const NEWLINE: u8 = 10
/** Each byte of the sums counts up to 255. */
const BLOCKS_AT_ONCE: usize = 255

export function newlines(from: usize, size: i32): i32 {
  const end = from + size
  const newline = i8x16.splat(NEWLINE)
  let p = from
  let found = 0
  while (p + 16 <= end) {
    const stop = min(end - 15, p + (BLOCKS_AT_ONCE << 4))
    let sums = i8x16.splat(0)
    // What is equal is -1.
    for (; p < stop; p += 16) sums = i8x16.sub(sums, i8x16.eq(v128.load(p), newline))
    found += total(i32x4.extadd_pairwise_i16x8_u(i16x8.extadd_pairwise_i8x16_u(sums)))
  }
  for (; p < end; p++) if (load<u8>(p) == NEWLINE) found++
  return found
}
