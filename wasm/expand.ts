// The body of a block: literals, and matches with what came before.
import { END, LITERAL, OUT_OF_LINE, SECOND } from './decode-table'
import { bitsRead, countRead, endOfInput, goOnReading, nextInput } from './input'
import { EXPANDED } from './places'

/** A distance takes at most 28 bits, and the look at what follows 11. */
const BITS_FOR_DISTANCE: u64 = 39
/** So far behind the end of the input, bits were taken that nobody sent. */
const PAST_END: usize = 8

/**
 * The place behind what was expanded from `out` on, or 0 if the block is damaged, does not end, or goes on behind `end`.
 * It looks once for up to three literals and a match: it may write over 300 bytes behind `end`, and read over 40 behind the input.
 */
export function expandBlock(
  out: usize,
  end: usize,
  literals: usize,
  literalBits: i32,
  distances: usize,
  distanceBits: i32,
): usize {
  const literalMask: u64 = (1 << literalBits) - 1
  const distanceMask: u64 = (1 << distanceBits) - 1
  const inputEnd = endOfInput() + PAST_END
  let next = nextInput()
  let bits = bitsRead()
  let count = countRead()
  bits |= load<u64>(next) << count
  next += <usize>((63 - count) >> 3)
  count |= 56
  let entry = <u64>load<u32>(literals + ((<usize>(bits & literalMask)) << 2))
  while (out <= end && next <= inputEnd) {
    let before = bits
    bits >>= entry & 63
    count -= entry
    // Written out three times: so many fit into the bits that one look at the input gives, and a loop would count them.
    if (entry & LITERAL) {
      store<u8>(out++, <u8>(entry >> 16))
      entry = <u64>load<u32>(literals + ((<usize>(bits & literalMask)) << 2))
      before = bits
      bits >>= entry & 63
      count -= entry
      if (entry & LITERAL) {
        store<u8>(out++, <u8>(entry >> 16))
        entry = <u64>load<u32>(literals + ((<usize>(bits & literalMask)) << 2))
        before = bits
        bits >>= entry & 63
        count -= entry
        if (entry & LITERAL) {
          store<u8>(out++, <u8>(entry >> 16))
          entry = <u64>load<u32>(literals + ((<usize>(bits & literalMask)) << 2))
          bits |= load<u64>(next) << (count & 63)
          next += <usize>(7 - ((count >> 3) & 7))
          count |= 56
          continue
        }
      }
    }
    if (entry & OUT_OF_LINE) {
      if (entry & SECOND) {
        const more = bits & (((<u64>1) << ((entry >> 8) & 15)) - 1)
        entry = <u64>load<u32>(literals + ((<usize>((entry >> 16) + more)) << 2))
        before = bits
        bits >>= entry & 63
        count -= entry
        if (entry & LITERAL) {
          store<u8>(out++, <u8>(entry >> 16))
          bits |= load<u64>(next) << (count & 63)
          next += <usize>(7 - ((count >> 3) & 7))
          count |= 56
          entry = <u64>load<u32>(literals + ((<usize>(bits & literalMask)) << 2))
          continue
        }
      }
      if (entry & END) {
        goOnReading(next, bits, count & 63)
        return out <= end ? out : 0
      }
      if (entry & OUT_OF_LINE) return 0
    }
    const length =
      <usize>(entry >> 16) +
      <usize>((before & (((<u64>1) << (entry & 63)) - 1)) >> ((entry >> 8) & 63))
    if ((count & 63) < BITS_FOR_DISTANCE) {
      bits |= load<u64>(next) << (count & 63)
      next += <usize>(7 - ((count >> 3) & 7))
      count |= 56
    }
    entry = <u64>load<u32>(distances + ((<usize>(bits & distanceMask)) << 2))
    if (entry & OUT_OF_LINE) {
      if (!(entry & SECOND)) return 0
      bits >>= entry & 63
      count -= entry
      const more = bits & (((<u64>1) << ((entry >> 8) & 15)) - 1)
      entry = <u64>load<u32>(distances + ((<usize>((entry >> 16) + more)) << 2))
    }
    before = bits
    bits >>= entry & 63
    count -= entry
    const distance =
      <usize>(entry >> 16) +
      <usize>((before & (((<u64>1) << (entry & 63)) - 1)) >> ((entry >> 8) & 63))
    if (distance > out - EXPANDED) return 0
    entry = <u64>load<u32>(literals + ((<usize>(bits & literalMask)) << 2))
    bits |= load<u64>(next) << (count & 63)
    next += <usize>(7 - ((count >> 3) & 7))
    count |= 56
    copyMatch(out, distance, length)
    out += length
  }
  return 0
}

/** Sixteen bytes at a time where they do not overlap: it may write over fifteen behind the match. */
function copyMatch(to: usize, distance: usize, length: usize): void {
  const end = to + length
  let from = to - distance
  if (distance >= 16) {
    v128.store(to, v128.load(from))
    v128.store(to, v128.load(from, 16), 16)
    if (length <= 32) return
    for (to += 32, from += 32; to < end; to += 16, from += 16) v128.store(to, v128.load(from))
  } else if (distance == 1) {
    const same = i8x16.splat(load<u8>(from))
    for (; to < end; to += 16) v128.store(to, same)
  } else {
    const step = min(distance, 8)
    for (; to < end; to += step, from += step) store<u64>(to, load<u64>(from))
  }
}
