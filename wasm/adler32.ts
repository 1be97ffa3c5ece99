// The checksum at the end of a zlib stream.
import { total } from './lanes'

const MODULUS: u32 = 65521
/** As many bytes as can be summed up before a sum may overflow; a multiple of 16. */
const AT_ONCE: i32 = 5552

export function adler32(from: usize, size: i32): u32 {
  let a: u32 = 1
  let b: u32 = 0
  let p = from
  let left = size
  const weights = i16x8(16, 15, 14, 13, 12, 11, 10, 9)
  const lowWeights = i16x8(8, 7, 6, 5, 4, 3, 2, 1)
  while (left >= 16) {
    const blocks = min(left, AT_ONCE) >> 4
    let sums = i32x4.splat(0)
    let before = i32x4.splat(0)
    let weighted = i32x4.splat(0)
    for (let end = p + (blocks << 4); p < end; p += 16) {
      const bytes = v128.load(p)
      before = i32x4.add(before, sums)
      const pairs = i16x8.extadd_pairwise_i8x16_u(bytes)
      sums = i32x4.add(sums, i32x4.extadd_pairwise_i16x8_u(pairs))
      const first = i32x4.dot_i16x8_s(i16x8.extend_low_i8x16_u(bytes), weights)
      const second = i32x4.dot_i16x8_s(i16x8.extend_high_i8x16_u(bytes), lowWeights)
      weighted = i32x4.add(weighted, i32x4.add(first, second))
    }
    b = (b + a * <u32>(blocks << 4) + 16 * total(before) + total(weighted)) % MODULUS
    a = (a + total(sums)) % MODULUS
    left -= blocks << 4
  }
  for (; left > 0; left--, p++) {
    a += load<u8>(p)
    b += a
  }
  return ((b % MODULUS) << 16) | (a % MODULUS)
}
