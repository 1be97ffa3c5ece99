import { deflateSync } from 'node:zlib'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Inflater } from './inflater.js'
import { blobIdInPlace, objectIdOf } from './object-id.js'

const content = fc.oneof(
  fc.uint8Array({ maxLength: 3000 }).map((bytes) => Buffer.from(bytes)),
  fc.integer({ min: 0, max: 400_000 }).map((size) => Buffer.alloc(size, 'a text that shrinks ')),
)

test('one stream after the other comes out as it went in, with its length, whatever follows it', () => {
  const inflater = new Inflater()
  fc.assert(
    fc.property(content, fc.uint8Array({ maxLength: 40 }), (bytes, rest) => {
      const stream = deflateSync(bytes)
      const inflated = inflater.inflate(Buffer.concat([stream, rest]), bytes.length)
      expect(inflated?.length).toBe(stream.length)
      expect(inflated?.content.equals(bytes)).toBe(true)
      expect(inflated && blobIdInPlace(inflated.content)).toBe(objectIdOf('blob', bytes))
    }),
    { numRuns: 60 },
  )
})

test('a stream that is cut, damaged or of another size gives nothing, and the next one is read all the same', () => {
  const inflater = new Inflater()
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
    { numRuns: 60 },
  )
})
