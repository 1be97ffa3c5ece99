import { constants, deflateSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { tries } from '../../../test/effort.js'
import { contents, MOST_BYTES, noise, repeating } from '../../../test/sample-contents.js'
import { contentEngine } from './content-engine.js'
import { deflated } from './deflated.js'
import { Inflater } from './inflater.js'
import { linesOf, newlinesOneByOne } from './count-lines.js'
import { blobIdInPlace, objectIdOf } from './object-id.js'

/** All that zlib can be asked for: blocks of each form and size, codes of each kind. */
const settings = fc.record({
  level: fc.integer({ min: 0, max: 9 }),
  memLevel: fc.integer({ min: 1, max: 9 }),
  windowBits: fc.integer({ min: 9, max: 15 }),
  strategy: fc.constantFrom(
    constants.Z_DEFAULT_STRATEGY,
    constants.Z_FILTERED,
    constants.Z_HUFFMAN_ONLY,
    constants.Z_RLE,
    constants.Z_FIXED,
  ),
})
const large = fc
  .integer({ min: MOST_BYTES, max: 400_000 })
  .map((size) => Buffer.alloc(size, 'abc '))
const content = fc.oneof(
  { weight: 9, arbitrary: contents.map((bytes) => Buffer.from(bytes)) },
  { weight: 1, arbitrary: large },
)

describe.each([
  ['by the engine', contentEngine],
  ['by zlib', () => undefined],
])('%s', (_, engineOfThread) => {
  test('streams of every kind come out as they went in, with their length, whatever follows them', () => {
    const inflater = new Inflater(engineOfThread)
    fc.assert(
      fc.property(content, settings, fc.uint8Array({ maxLength: 40 }), (bytes, asked, rest) => {
        for (const stream of [deflateSync(bytes, asked), Buffer.from(deflated(bytes))]) {
          const inflated = inflater.inflate(Buffer.concat([stream, rest]), bytes.length)
          expect(inflated?.length).toBe(stream.length)
          expect(inflated?.content.equals(bytes)).toBe(true)
          expect(inflated && blobIdInPlace(inflated.content)).toBe(objectIdOf('blob', bytes))
        }
      }),
      { seed: 31, numRuns: tries(1200, 80) },
    )
  })

  test('contents of each small size, and of the largest', () => {
    const inflater = new Inflater(engineOfThread)
    const sizes = [...Array(700).keys(), MOST_BYTES - 1, MOST_BYTES, MOST_BYTES + 1]
    for (const size of sizes) {
      for (const bytes of [noise(size, size), repeating({ seed: size, size, longest: 300 })]) {
        const stream = deflateSync(bytes)
        expect(inflater.inflate(stream, size)?.content.equals(bytes)).toBe(true)
        expect(inflater.inflate(stream, size + 1)).toBeUndefined()
        expect(size > 0 && inflater.inflate(stream, size - 1)).toBe(size > 0 && undefined)
      }
    }
  })

  test('a stream that is cut, damaged or of another size gives nothing, and the next one is read all the same', () => {
    const inflater = new Inflater(engineOfThread)
    const good = Buffer.from('some content, and some content again')
    const whole = deflateSync(good)
    fc.assert(
      fc.property(content, fc.nat(), fc.constantFrom(-1, 1), (bytes, place, by) => {
        const stream = deflateSync(bytes)
        const damaged = Buffer.from(stream)
        const at = place % stream.length
        damaged[at] = (damaged[at] ?? 0) ^ 0x55
        const outcome = inflater.inflate(damaged, bytes.length)
        // A bit may mean nothing, but never other bytes: the stream has a checksum.
        expect(outcome === undefined || outcome.content.equals(bytes)).toBe(true)
        expect(inflater.inflate(stream.subarray(0, at), bytes.length)).toBeUndefined()
        const otherSize = bytes.length === 0 ? 1 : bytes.length + by
        expect(inflater.inflate(stream, otherSize)).toBeUndefined()
        expect(inflater.inflate(whole, good.length)?.content.equals(good)).toBe(true)
      }),
      { seed: 32, numRuns: tries(600, 50) },
    )
  })

  test('a stream that needs a dictionary gives nothing', () => {
    const bytes = Buffer.from('known words, known words')
    const stream = deflateSync(bytes, { dictionary: Buffer.from('known words') })
    expect(new Inflater(engineOfThread).inflate(stream, bytes.length)).toBeUndefined()
  })

  test('a short content in a stream that is longer than any needs to be', () => {
    const empty = Buffer.from([0, 0, 0, 0xff, 0xff])
    const whole = deflateSync('short')
    const parts = [whole.subarray(0, 2), ...Array<Buffer>(60_000).fill(empty), whole.subarray(2)]
    const stream = Buffer.concat(parts)
    const inflated = new Inflater(engineOfThread).inflate(stream, 5)
    expect(inflated?.content.toString()).toBe('short')
    expect(inflated?.length).toBe(stream.length)
    expect(new Inflater(engineOfThread).inflate(stream.subarray(0, -1), 5)).toBeUndefined()
  })
})

test('the engine expands what is not too large for it, and lines are counted where that stands', () => {
  const engine = contentEngine()
  const bytes = Buffer.from('one line\nand another\n'.repeat(500))
  const inflater = new Inflater()
  const small = inflater.inflate(deflateSync(bytes), bytes.length)
  expect(small?.content.buffer).toBe(engine?.deflate(bytes).buffer)
  expect(small && linesOf(small.content)).toBe(1000)
  const part = small?.content.subarray(5, 7001)
  expect(part && engine?.newlines(part)).toBe(part && newlinesOneByOne(part))
  // Nothing else that the engine does is in its way.
  deflated(noise(3, MOST_BYTES))
  linesOf(Buffer.alloc(MOST_BYTES, '\n'))
  expect(small?.content.equals(bytes)).toBe(true)
})
