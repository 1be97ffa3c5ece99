import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  makeId,
  parseCheckpointId,
  parseObjectId,
  parseOperationId,
  parseProjectId,
} from './ids.js'

const zeros = (bytes: number) => new Uint8Array(bytes)
const times = fc.integer({ min: Date.UTC(2020, 0, 1), max: Date.UTC(2300, 0, 1) })
const chance = fc.uint8Array({ minLength: 8, maxLength: 8 })

test('ids sort by the time they were made', () => {
  fc.assert(
    fc.property(times, times, chance, chance, (one, other, a, b) => {
      fc.pre(one !== other)
      const [first, second] = [makeId(one, () => a), makeId(other, () => b)]
      expect(first < second).toBe(one < other)
    }),
    { numRuns: 1000, seed: 1 },
  )
})

test('an id is 18 letters: it can be no number, and spells no word', () => {
  fc.assert(
    fc.property(times, chance, (time, random) => {
      const id = makeId(time, () => random)
      expect(id).toMatch(/^[bcdfghjklmnpqrstvwxz]{18}$/)
      expect(parseCheckpointId(id)).toBe(id)
      expect(parseOperationId(id)).toBe(id)
      expect(parseProjectId(id)).toBe(id)
    }),
    { numRuns: 500, seed: 2 },
  )
})

test('two ids of one millisecond differ by chance alone', () => {
  const now = Date.UTC(2026, 0, 1)
  const ids = [0, 1, 2].map((byte) => makeId(now, () => new Uint8Array(8).fill(byte)))
  expect(new Set(ids).size).toBe(3)
  expect(new Set(ids.map((id) => id.slice(0, 10))).size).toBe(1)
})

test('a clock before the epoch still gives a well-formed id', () => {
  expect(makeId(-5, zeros)).toBe('b'.repeat(18))
})

test('what has not the form of an id is refused', () => {
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
