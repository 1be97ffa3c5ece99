import fc from 'fast-check'
import { expect, test } from 'vitest'
import { packNode, unpackNode } from '../../../../src/ledger/states/tree/node-body.js'

test('ids of any size and order survive packing', () => {
  const id = fc.oneof(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: 2 ** 51 }))
  fc.assert(
    fc.property(fc.array(id, { minLength: 1, maxLength: 128 }), (ids) => {
      expect(unpackNode(packNode(ids))).toEqual(ids)
    }),
    { numRuns: 1000, seed: 1 },
  )
})

test('children that were stored in order take one byte each', () => {
  const ids = Array.from({ length: 128 }, (_, n) => 1_000_000 + 3 * n)
  expect(packNode(ids)).toHaveLength(127 + 3)
})

test('bytes that are not a node are rejected', () => {
  for (const bytes of [
    [],
    [0x80],
    [2, 0xff],
    [0],
    [1],
    [4, 7],
    Array.from({ length: 20 }, () => 0xff),
  ])
    expect(unpackNode(Uint8Array.from(bytes))).toBe(undefined)
})
