import { randomFillSync } from 'node:crypto'
import { inflateSync } from 'node:zlib'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Deflater } from './deflater.js'

test('what goes in comes out again, one object after the other', () => {
  const deflater = new Deflater(1)
  const content = fc.oneof(
    fc.uint8Array({ maxLength: 5000 }),
    fc.lorem({ mode: 'sentences', maxCount: 60 }).map((text) => Buffer.from(text)),
    fc.nat(40_000).map((size) => Buffer.alloc(size, 'all the same ')),
  )
  fc.assert(
    fc.property(fc.array(content, { minLength: 1, maxLength: 8 }), (contents) => {
      for (const bytes of contents) {
        expect(inflateSync(deflater.deflate(bytes)).equals(bytes)).toBe(true)
      }
    }),
    { seed: 21, numRuns: 200 },
  )
})

test('an object that does not shrink into the buffer is compressed all the same, and so is the next', () => {
  const deflater = new Deflater(1)
  const noise = randomFillSync(Buffer.allocUnsafe(3 << 20))
  for (const bytes of [noise, Buffer.from('short'), noise.subarray(0, 256 << 10)]) {
    expect(inflateSync(deflater.deflate(bytes)).equals(bytes)).toBe(true)
  }
})
