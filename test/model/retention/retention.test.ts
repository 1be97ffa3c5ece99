import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DEFAULT_CONFIG } from '../../../src/model/settings/config.js'
import { type CheckpointId, parseCheckpointId } from '../../../src/model/ids.js'
import {
  type Guard,
  planRetention,
  planSessionRetention,
  type Prunable,
  type PrunableStep,
  retentionPolicy,
} from '../../../src/model/retention/retention.js'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const HERMES = { ...DEFAULT_CONFIG, retention: 'hermes' } as const
const NOW = { nowMs: 1, dropOrphans: true }

const LETTERS = 'bcdfghjklmnpqrstvwxz'
const id = (n: number) =>
  parseCheckpointId(
    'b'.repeat(15) +
      [400, 20, 1].map((place) => LETTERS.charAt(Math.floor(n / place) % 20)).join(''),
  )
const checkpoints = (count: number, rest: (n: number) => Partial<PrunableStep> = () => ({})) =>
  Array.from(
    { length: count },
    (_, n): PrunableStep => ({ id: id(n), name: null, pinned: false, ...rest(n) }),
  )

const dropByMilestones = (oldestFirst: readonly PrunableStep[], given = {}) =>
  planSessionRetention(oldestFirst.toReversed(), retentionPolicy(DEFAULT_CONFIG, given)).map(
    (drop) => drop.id,
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

test('a caller can keep fewer steps', () => {
  const kept = (given: object) => {
    const dropped = dropByMilestones(checkpoints(10), given)
    return checkpoints(10).filter((one) => !dropped.includes(one.id)).length
  }
  expect([kept({ keepLast: 3 }), kept({ maxCheckpoints: 4 }), kept({})]).toEqual([4, 4, 10])
})

function point(id: string, guard: Guard | null = null, rest: Partial<Prunable> = {}): Prunable {
  return {
    id: id as CheckpointId,
    guard,
    createdAtMs: 0,
    agedFromMs: 0,
    group: null,
    isPrompt: false,
    isSpecial: false,
    isGuarded: guard !== null,
    usedAtMs: null,
    hasFiles: true,
    isHead: false,
    ...rest,
  }
}

const base = {
  isOrphan: false,
  touchedAtMs: 0,
  checkpoints: [point('d'), point('c', 'named'), point('b'), point('a')],
}

describe('hermes', () => {
  test('the newest stay, and guarded ones come on top', () => {
    expect(planRetention(base, retentionPolicy({ ...HERMES, maxCheckpoints: 1 }), NOW)).toEqual([
      { id: 'b', why: 'count' },
      { id: 'a', why: 'count' },
    ])
  })

  test('an unused project loses all but guarded checkpoints; on the last day it keeps them', () => {
    const at = (nowMs: number) =>
      planRetention(base, retentionPolicy(HERMES), { nowMs, dropOrphans: true }).map(({ id }) => id)
    expect(at(7 * DAY_MS)).toEqual([])
    expect(at(7 * DAY_MS + 1)).toEqual(['d', 'b', 'a'])
  })

  test('its own settings apply, and those of the tiers do not', () => {
    expect(retentionPolicy(HERMES)).toMatchObject({
      tiers: null,
      maxCheckpoints: 20,
      unusedMs: 7 * DAY_MS,
      completedMs: DAY_MS,
      activeMs: 7 * DAY_MS,
    })
  })
})

describe('tiers', () => {
  test('there is no limit by number and no early end of completed sessions', () => {
    expect(retentionPolicy(DEFAULT_CONFIG)).toMatchObject({
      tiers: { keepAllMs: 48 * HOUR_MS, keepPromptsMs: 30 * DAY_MS, keepDailyMs: 365 * DAY_MS },
      maxCheckpoints: null,
      unusedMs: 365 * DAY_MS,
      completedMs: 365 * DAY_MS,
      activeMs: 48 * HOUR_MS,
    })
    const many = { ...base, checkpoints: Array.from({ length: 500 }, (_, n) => point(`${n}`)) }
    expect(
      planRetention(many, retentionPolicy(DEFAULT_CONFIG), { nowMs: DAY_MS, dropOrphans: true }),
    ).toEqual([])
  })

  test('limits of the caller apply in addition', () => {
    const rules = retentionPolicy(DEFAULT_CONFIG, { maxCheckpoints: 2, retentionDays: 10 })
    expect(rules).toMatchObject({ maxCheckpoints: 2, unusedMs: 10 * DAY_MS })
    expect(planRetention(base, rules, NOW)).toEqual([{ id: 'a', why: 'count' }])
    expect(planRetention(base, rules, { nowMs: 11 * DAY_MS, dropOrphans: true })).toHaveLength(3)
  })

  test('neither checkpoints dropped by the tiers nor states without files count', () => {
    const rules = retentionPolicy(DEFAULT_CONFIG, { maxCheckpoints: 1 })
    const at = 3 * DAY_MS
    const checkpoints = [
      point('new', null, { agedFromMs: at, createdAtMs: at }),
      point('state', null, { agedFromMs: at, createdAtMs: at, hasFiles: false }),
      point('hour', null, { group: 'hour', createdAtMs: 2 }),
      point('earlier', null, { group: 'hour', createdAtMs: 1 }),
    ]
    expect(
      planRetention({ ...base, checkpoints }, rules, { nowMs: at, dropOrphans: true }),
    ).toEqual([
      { id: 'earlier', why: 'prompts' },
      { id: 'hour', why: 'count' },
    ])
  })

  test('the head of a session is removed only with the session', () => {
    const checkpoints = [point('head', null, { isHead: true }), point('other')]
    const drop = (nowMs: number, isOrphan: boolean) =>
      planRetention({ ...base, isOrphan, checkpoints }, retentionPolicy(DEFAULT_CONFIG), {
        nowMs,
        dropOrphans: true,
      }).map(({ id }) => id)
    expect(drop(400 * DAY_MS, false)).toEqual(['other'])
    expect(drop(1, true)).toEqual(['other'])
  })
})

test('an orphan is removed only on request', () => {
  const orphan = { ...base, isOrphan: true }
  const drop = (dropOrphans: boolean) =>
    planRetention(orphan, retentionPolicy(DEFAULT_CONFIG), { nowMs: 1, dropOrphans })
  expect(drop(false)).toEqual([])
  expect(drop(true).map(({ why }) => why)).toEqual(['orphan', 'orphan', 'orphan'])
})
