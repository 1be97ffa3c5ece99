import fc from 'fast-check'
import { expect, test } from 'vitest'
import { packNode, unpackNode, unpackRuns } from '../../../../src/ledger/states/tree/node-body.js'

test('ids of any size and order come back', () => {
  const id = fc.oneof(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: 2 ** 51 }))
  fc.assert(
    fc.property(fc.array(id, { minLength: 1, maxLength: 128 }), (ids) => {
      expect(unpackNode(packNode(ids))).toEqual(ids)
    }),
    { numRuns: 1000, seed: 1 },
  )
})

test('ids that follow each other come back as one run', () => {
  const run = fc.record({
    first: fc.integer({ min: 1, max: 500 }),
    count: fc.integer({ min: 1, max: 40 }),
  })
  fc.assert(
    fc.property(fc.array(run, { minLength: 1, maxLength: 3 }), (runs) => {
      const ids = runs.flatMap(({ first, count }) =>
        Array.from({ length: count }, (_, n) => first + n),
      )
      const breaks = ids.filter((id, place) => place === 0 || id !== (ids[place - 1] ?? 0) + 1)
      const found = unpackRuns(packNode(ids)) ?? []
      expect(found.map(({ first }) => first)).toEqual(breaks)
      expect(found.reduce((sum, { count }) => sum + count, 0)).toBe(ids.length)
    }),
    { numRuns: 1000, seed: 2 },
  )
})

test('children that were stored one after the other take one byte each', () => {
  const ids = Array.from({ length: 128 }, (_, n) => 1_000_000 + 3 * n)
  expect(packNode(ids)).toHaveLength(127 + 3)
})

test('bytes that no node has are known as such', () => {
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
