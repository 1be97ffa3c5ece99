// The checksum at the end of a zlib stream.
import { total } from './lanes'

const MODULUS: u32 = 65521
/** As many bytes as can be summed up before a sum may overflow: each place of 128 blocks adds up to less than 2^15. */
const AT_ONCE: i32 = 4096
const BLOCK: i32 = 32

export function adler32(from: usize, size: i32): u32 {
  let a: u32 = 1
  let b: u32 = 0
  let p = from
  let left = size
  const ones = i16x8.splat(1)
  while (left >= BLOCK) {
    const bytes = min(left, AT_ONCE) & -BLOCK
    let sums = i32x4.splat(0)
    let before = i32x4.splat(0)
    // Of each of the 32 places in a block; what is earlier counts more often.
    let first = i16x8.splat(0)
    let second = i16x8.splat(0)
    let third = i16x8.splat(0)
    let fourth = i16x8.splat(0)
    for (const end = p + bytes; p < end; p += BLOCK) {
      const one = v128.load(p)
      const other = v128.load(p, 16)
      before = i32x4.add(before, sums)
      const pairs = i16x8.add(
        i16x8.extadd_pairwise_i8x16_u(one),
        i16x8.extadd_pairwise_i8x16_u(other),
      )
      sums = i32x4.add(sums, i32x4.dot_i16x8_s(pairs, ones))
      first = i16x8.add(first, i16x8.extend_low_i8x16_u(one))
      second = i16x8.add(second, i16x8.extend_high_i8x16_u(one))
      third = i16x8.add(third, i16x8.extend_low_i8x16_u(other))
      fourth = i16x8.add(fourth, i16x8.extend_high_i8x16_u(other))
    }
    const weighted = i32x4.add(
      i32x4.add(
        i32x4.dot_i16x8_s(first, i16x8(32, 31, 30, 29, 28, 27, 26, 25)),
        i32x4.dot_i16x8_s(second, i16x8(24, 23, 22, 21, 20, 19, 18, 17)),
      ),
      i32x4.add(
        i32x4.dot_i16x8_s(third, i16x8(16, 15, 14, 13, 12, 11, 10, 9)),
        i32x4.dot_i16x8_s(fourth, i16x8(8, 7, 6, 5, 4, 3, 2, 1)),
      ),
    )
    b = (b + a * <u32>bytes + BLOCK * total(before) + total(weighted)) % MODULUS
    a = (a + total(sums)) % MODULUS
    left -= bytes
  }
  for (; left > 0; left--, p++) {
    a += load<u8>(p)
    b += a
  }
  return ((b % MODULUS) << 16) | (a % MODULUS)
}
