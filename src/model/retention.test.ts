import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseCheckpointId } from './ids.js'
import { dropByMilestones, isTooOld, type Retained } from './retention.js'

const LETTERS = 'bcdfghjklmnpqrstvwxz'
const id = (n: number) =>
  parseCheckpointId(
    'b'.repeat(15) +
      [400, 20, 1].map((place) => LETTERS.charAt(Math.floor(n / place) % 20)).join(''),
  )
const checkpoints = (count: number, rest: (n: number) => Partial<Retained> = () => ({})) =>
  Array.from(
    { length: count },
    (_, n): Retained => ({ id: id(n), name: null, pinned: false, ...rest(n) }),
  )

test('up to fifty checkpoints nothing is dropped', () => {
  expect(dropByMilestones(checkpoints(50))).toEqual([])
})

test('over fifty the first and the last twenty stay', () => {
  const dropped = dropByMilestones(checkpoints(51))
  expect(dropped).toEqual(Array.from({ length: 30 }, (_, n) => id(n + 1)))
})

test('the latest of each name stays, and whatever is pinned', () => {
  const all = checkpoints(60, (n) => ({
    name: n === 5 || n === 9 ? 'tests pass' : n === 7 ? 'deployed' : null,
    pinned: n === 11,
  }))
  const kept = all.filter((one) => !dropByMilestones(all).includes(one.id))
  expect(kept.slice(0, 4).map((one) => one.id)).toEqual([id(0), id(7), id(9), id(11)])
  expect(kept.length).toBe(24)
})

test('a hundred at most, however many names there are; pins come on top', () => {
  const named = checkpoints(300, (n) => ({ name: `name ${n}` }))
  const kept = named.filter((one) => !dropByMilestones(named).includes(one.id))
  expect(kept.length).toBe(100)
  expect(kept[0]?.id).toBe(id(0))
  expect(kept.slice(-20)).toEqual(named.slice(-20))
  const pinned = checkpoints(300, () => ({ pinned: true }))
  expect(dropByMilestones(pinned)).toEqual([])
})

test('the first, the last twenty and every pin always survive, and a second pass drops nothing more', () => {
  const list = fc
    .array(
      fc.record({
        name: fc.constantFrom(null, 'a', 'b', 'c'),
        pinned: fc.boolean().map((yes) => yes),
      }),
      { maxLength: 200 },
    )
    .map((facts) => facts.map((fact, n) => ({ id: id(n), ...fact })))
  fc.assert(
    fc.property(list, (all) => {
      const dropped = new Set(dropByMilestones(all))
      const kept = all.filter((one) => !dropped.has(one.id))
      const sure = all.filter((one, n) => n === 0 || n >= all.length - 20 || one.pinned)
      expect(sure.every((one) => kept.includes(one))).toBe(true)
      expect(dropByMilestones(kept)).toEqual([])
    }),
    { seed: 5, numRuns: 300 },
  )
})

test('a session goes after seven days without a touch, a completed one after one', () => {
  const day = 86_400_000
  const old = (days: number, status: 'in_progress' | 'completed') =>
    isTooOld({ status, updatedAtMs: 0 }, days * day + 1)
  expect([old(6.9, 'in_progress'), old(7, 'in_progress')]).toEqual([false, true])
  expect([old(0.9, 'completed'), old(1, 'completed')]).toEqual([false, true])
})
