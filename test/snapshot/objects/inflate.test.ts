import { deflateSync } from 'node:zlib'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { tries } from '../../support/test-budget.js'
import { contents } from '../capture/sample-contents.js'
import { inflate } from '../../../src/snapshot/objects/inflate.js'

test('the content of a stream is found, whatever follows it', () => {
  fc.assert(
    fc.property(contents, fc.uint8Array({ maxLength: 40 }), (bytes, rest) => {
      const stream = deflateSync(bytes)
      const inflated = inflate(Buffer.concat([stream, rest]), bytes.length)
      expect(inflated?.equals(bytes)).toBe(true)
    }),
    { seed: 31, numRuns: tries(1200, 80) },
  )
})

test('a truncated or damaged stream, or one of another size, gives undefined', () => {
  fc.assert(
    fc.property(contents, fc.nat(), (bytes, position) => {
      const stream = deflateSync(bytes)
      const at = position % stream.length
      const damaged = Buffer.from(stream)
      damaged[at] = (damaged[at] ?? 0) ^ 0x55
      const outcome = inflate(damaged, bytes.length)
      // Some bits have no meaning, but the checksum rules out different content.
      expect(outcome === undefined || outcome.equals(bytes)).toBe(true)
      expect(inflate(stream.subarray(0, at), bytes.length)).toBeUndefined()
      expect(inflate(stream, bytes.length + 1)).toBeUndefined()
      expect(bytes.length > 0 && inflate(stream, bytes.length - 1)).toBe(
        bytes.length > 0 && undefined,
      )
    }),
    { seed: 32, numRuns: tries(600, 50) },
  )
})

test('a stream that needs a dictionary gives undefined', () => {
  const bytes = Buffer.from('known words, known words')
  const stream = deflateSync(bytes, { dictionary: Buffer.from('known words') })
  expect(inflate(stream, bytes.length)).toBeUndefined()
})
