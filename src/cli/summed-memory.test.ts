import { expect, test } from 'vitest'
import { FACTOR, SUM_STEP, type SummedMemory, summedMemory } from './summed-memory.js'

const SEED = 0x0123_4567_89ab_cdefn
const PAGE_BYTES = 1 << 16

function expectMemory(byteCount: number): SummedMemory {
  const memory = summedMemory(byteCount)
  if (memory === undefined) throw new Error('This Node has no WebAssembly')
  return memory
}

/** What the text above the bytes of the module says, step by step. */
function sumByHand(bytes: Buffer, end: number, seed: bigint): bigint {
  const lanes = [seed, seed, seed, seed]
  for (let at = 0; at < end; at += SUM_STEP) {
    for (const [i, lane] of lanes.entries()) {
      const product = word((lane ^ bytes.readBigUInt64LE(at + i * 8)) * FACTOR)
      lanes[i] = product ^ (product >> 29n)
    }
  }
  return lanes.reduce((sum, lane) => word(sum * FACTOR) ^ lane)
}

function word(value: bigint): bigint {
  return BigInt.asUintN(64, value)
}

test.each([SUM_STEP, 10 * SUM_STEP, PAGE_BYTES, PAGE_BYTES + SUM_STEP])(
  'sums up %i bytes as it says it does',
  (end) => {
    const { bytes, sum } = expectMemory(end)
    expect(sum(end, SEED)).toBe(sumByHand(bytes, end, SEED))
    for (let at = 0; at < end; at++) bytes[at] = (at * 7919 + (at >> 8)) & 0xff
    expect(sum(end, SEED)).toBe(sumByHand(bytes, end, SEED))
    expect(sum(end, 0n)).toBe(sumByHand(bytes, end, 0n))
  },
)

test('sees every change of one bit, and of two in different words', () => {
  const end = 4 * SUM_STEP
  const { bytes, sum } = expectMemory(end)
  const unchanged = sum(end, SEED)
  for (let bit = 0; bit < end * 8; bit++) {
    flip(bytes, bit)
    expect(sum(end, SEED)).not.toBe(unchanged)
    for (let other = bit + 64; other < end * 8; other += 64) {
      flip(bytes, other)
      expect(sum(end, SEED)).not.toBe(unchanged)
      flip(bytes, other)
    }
    flip(bytes, bit)
  }
})

function flip(bytes: Buffer, bit: number): void {
  bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7))
}
