// Contents to compress and to expand.
import fc from 'fast-check'

/** The largest content that the reused zlib handle compresses. */
export const MOST_BYTES = 256 << 10

/** Contents for every code path: each kind of block, matches of each length and distance, codes that are too deep. */
export const contents = fc.oneof(
  fc.uint8Array({ maxLength: 5000 }),
  fc.lorem({ mode: 'sentences', maxCount: 60 }).map((text) => Buffer.from(text)),
  fc.nat(MOST_BYTES).map((size) => Buffer.alloc(size, 'all the same ')),
  fc.record({ seed: fc.nat(), size: sizes() }).map(({ seed, size }) => noise(seed, size)),
  fc.record({ seed: fc.nat(), size: sizes() }).map(({ seed, size }) => rarer(seed, size)),
  fc
    .record({ seed: fc.nat(), size: sizes(), longest: fc.integer({ min: 1, max: 400 }) })
    .map(repeating),
)

function sizes(): fc.Arbitrary<number> {
  return fc.oneof(fc.nat(3000), fc.nat(MOST_BYTES), fc.constant(MOST_BYTES))
}

export function random(seed: number): (below: number) => number {
  let state = seed >>> 0
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

export function noise(seed: number, size: number): Buffer {
  const below = random(seed)
  return Buffer.from(Uint8Array.from({ length: size }, () => below(256)))
}

/** Each byte is half as frequent as the previous one: without a limit, some codes would be too long. */
export function rarer(seed: number, size: number): Buffer {
  const below = random(seed)
  return Buffer.from(Uint8Array.from({ length: size }, () => Math.clz32(below(2 ** 31) + 1)))
}

/** Repeats earlier parts, from up to 33,000 bytes back. */
export function repeating(given: {
  readonly seed: number
  readonly size: number
  readonly longest: number
}): Buffer {
  const below = random(given.seed)
  const bytes = Buffer.alloc(given.size)
  for (let at = 0; at < bytes.length; ) {
    const length = at === 0 || below(10) === 0 ? 0 : 1 + below(given.longest)
    const distance = 1 + below(Math.min(Math.max(at, 1), 33_000))
    if (length === 0) bytes[at++] = below(256)
    for (let left = length; left > 0 && at < bytes.length; left--, at++)
      bytes[at] = bytes[at - distance] ?? 0
  }
  return bytes
}
