import { randomFillSync } from 'node:crypto'
import { deflateSync, inflateSync } from 'node:zlib'
import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { tries } from '../../../test/effort.js'
import { contents, MOST_BYTES, noise, rarer, repeating } from '../../../test/sample-contents.js'
import { startEngine } from './content-engine.js'
import { deflated, deflatedBy } from './deflated.js'

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
