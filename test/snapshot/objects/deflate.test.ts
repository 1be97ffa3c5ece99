import { randomFillSync } from 'node:crypto'
import { createDeflate, deflateSync, inflateSync } from 'node:zlib'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { tries } from '../../support/test-budget.js'
import { contents, MOST_BYTES, noise, rarer, repeating } from '../capture/sample-contents.js'
import { deflate, deflateWith, startCompressor } from '../../../src/snapshot/objects/deflate.js'

test('inflating restores the content, one object after the other', () => {
  fc.assert(
    fc.property(fc.array(contents, { minLength: 1, maxLength: 4 }), (all) => {
      for (const bytes of all) expect(inflateSync(deflate(bytes)).equals(bytes)).toBe(true)
    }),
    { seed: 21, numRuns: tries(5000, 120) },
  )
})

test('the reused handle produces the same stream as deflateSync, whatever came before', () => {
  const compressor = startCompressor(createDeflate({ level: 1 }))
  expect(compressor).toBeDefined()
  const bytes = repeating({ seed: 4, size: 60_000, longest: 40 })
  for (const before of [noise(1, 5000), bytes, rarer(2, 9000)]) {
    deflateWith(compressor, before)
    expect(Buffer.from(deflateWith(compressor, bytes))).toEqual(deflateSync(bytes, { level: 1 }))
  }
})

test('content too large for the handle is compressed too, and so is the next', () => {
  const large = randomFillSync(Buffer.allocUnsafe(3 << 20))
  for (const bytes of [large, Buffer.from('short'), large.subarray(0, MOST_BYTES)])
    expect(inflateSync(deflate(bytes)).equals(bytes)).toBe(true)
})

test('without the handle, deflateSync is used', () => {
  const bytes = Buffer.from('without it, without it, without it')
  expect(startCompressor({})).toBe(undefined)
  expect(startCompressor({ _handle: {}, _writeState: new Uint32Array(2) })).toBe(undefined)
  expect(deflateWith(undefined, bytes)).toEqual(deflateSync(bytes, { level: 1 }))
})
