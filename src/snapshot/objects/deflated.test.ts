import { randomFillSync } from 'node:crypto'
import { deflateSync, inflateSync } from 'node:zlib'
import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { tries } from '../../../test/effort.js'
import { startEngine } from './content-engine.js'
import { deflated, deflatedBy } from './deflated.js'

const MOST_BYTES = 256 << 10

/** Contents that lead everywhere: each kind of block, matches of each length and distance, codes that are too deep. */
const contents = fc.oneof(
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

function random(seed: number): (below: number) => number {
  let state = seed >>> 0
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

function noise(seed: number, size: number): Buffer {
  const below = random(seed)
  return Buffer.from(Uint8Array.from({ length: size }, () => below(256)))
}

/** Each byte half as often as the one before: without a limit some would take more bits than there are. */
function rarer(seed: number, size: number): Buffer {
  const below = random(seed)
  return Buffer.from(Uint8Array.from({ length: size }, () => Math.clz32(below(2 ** 31) + 1)))
}

/** Parts of what came before, from up to 33,000 bytes away. */
function repeating(given: {
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

test('what goes in comes out again, one object after the other', () => {
  fc.assert(
    fc.property(fc.array(contents, { minLength: 1, maxLength: 4 }), (all) => {
      for (const bytes of all) {
        const stream = deflated(bytes)
        expect(inflateSync(stream).equals(bytes)).toBe(true)
        expect(stream.length).toBeLessThanOrEqual(bytes.length + 40)
      }
    }),
    { seed: 21, numRuns: tries(5000, 120) },
  )
})

test('the same bytes become the same stream, whatever came before', () => {
  const bytes = repeating({ seed: 4, size: 60_000, longest: 40 })
  const first = Buffer.from(deflatedBy(startEngine(), bytes))
  for (const before of [noise(1, 5000), bytes, rarer(2, 9000)]) {
    deflated(before)
    expect(Buffer.from(deflated(bytes)).equals(first)).toBe(true)
  }
})

test('sources become as small as with zlib at the same pains', () => {
  const source = Buffer.from(`${startEngine.toString()}\n${test.toString()}\n`.repeat(3))
  const zlib = deflateSync(source, { level: 1 })
  const own = Buffer.from(deflated(source))
  expect(own.length).toBeLessThan(zlib.length * 1.05)
  // It is not zlib that has done it.
  expect(own.equals(zlib)).toBe(false)
})

test('an object that is too large for it is compressed all the same, and so is the next', () => {
  const large = randomFillSync(Buffer.allocUnsafe(3 << 20))
  for (const bytes of [large, Buffer.from('short'), large.subarray(0, MOST_BYTES)]) {
    expect(inflateSync(deflated(bytes)).equals(bytes)).toBe(true)
  }
})

test('where there is no WebAssembly, zlib does the work', () => {
  vi.stubGlobal('WebAssembly', {})
  try {
    const bytes = Buffer.from('without it, without it, without it')
    expect(startEngine()).toBe(undefined)
    expect(deflatedBy(undefined, bytes)).toEqual(deflateSync(bytes, { level: 1 }))
  } finally {
    vi.unstubAllGlobals()
  }
})
