import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  makeId,
  parseCheckpointId,
  parseObjectId,
  parseOperationId,
  parseProjectId,
  uniquePrefix,
} from '../../src/model/ids.js'

const bytes = fc.uint8Array({ minLength: 16, maxLength: 16 })

test('an id is 18 letters: it is not a number and spells no word', () => {
  fc.assert(
    fc.property(bytes, (random) => {
      const id = makeId(() => random)
      expect(id).toMatch(/^[bcdfghjklmnpqrstvwxz]{18}$/)
      expect(parseCheckpointId(id)).toBe(id)
      expect(parseOperationId(id)).toBe(id)
      expect(parseProjectId(id)).toBe(id)
    }),
    { numRuns: 500, seed: 2 },
  )
})

test('every letter of an id is random, the first as well as the last', () => {
  const ids = Array.from({ length: 4000 }, () => makeId(randomBytes))
  expect(new Set(ids).size).toBe(4000)
  for (const at of [0, 1, 2, 3, 17]) {
    const counts = new Map<string, number>()
    for (const id of ids) counts.set(id.charAt(at), (counts.get(id.charAt(at)) ?? 0) + 1)
    expect(counts.size).toBe(20)
    // 200 are expected, with a standard deviation of 14: eight of these either way.
    expect(Math.min(...counts.values())).toBeGreaterThan(90)
    expect(Math.max(...counts.values())).toBeLessThan(310)
  }
})

test('four letters identify nearly every one of a thousand ids', () => {
  const starts = Array.from({ length: 1000 }, () => makeId(randomBytes).slice(0, 4))
  // 160,000 possible prefixes: about three collisions are expected.
  expect(new Set(starts).size).toBeGreaterThan(980)
})

test('a text that is not in the format of an id is refused', () => {
  const bad = ['', '1', 'b'.repeat(17), 'b'.repeat(19), 'B'.repeat(18), 'a'.repeat(18), '../x']
  for (const text of bad) {
    for (const parse of [parseCheckpointId, parseOperationId, parseProjectId]) {
      expect(() => parse(text)).toThrow(expect.objectContaining({ code: 'BAD_INPUT' }))
    }
  }
  for (const text of ['', 'f'.repeat(39), 'F'.repeat(40), 'g'.repeat(40)]) {
    expect(() => parseObjectId(text)).toThrow(expect.objectContaining({ code: 'BAD_INPUT' }))
  }
  expect(parseObjectId('0123456789abcdef0123456789abcdef01234567')).toHaveLength(40)
})

test('an id is shortened to its shortest unique prefix of at least 4 letters', () => {
  const [one, two] = ['bcdfghjklmnpqrstvw', 'bcdfghjklmnpqrstvx']
  expect(uniquePrefix(one, [two], 4)).toBe(one)
  expect(uniquePrefix(one, ['bcdfgz'], 4)).toBe('bcdfgh')
  expect(uniquePrefix('bzzzzzzzzzzzzzzzzz', [two], 4)).toBe('bzzz')
  expect(uniquePrefix(one, [], 4)).toBe('bcdf')
})
