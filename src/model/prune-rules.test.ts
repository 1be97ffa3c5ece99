import { describe, expect, test } from 'vitest'
import { DEFAULT_CONFIG } from './config.js'
import type { CheckpointId } from './ids.js'
import { dropByRules, type Guard, type Prunable, rulesOf } from './prune-rules.js'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const HERMES = { ...DEFAULT_CONFIG, retention: 'hermes' } as const

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
const NOW = { nowMs: 1, dropOrphans: true }

describe('hermes', () => {
  test('the newest stay, and guarded ones come on top', () => {
    expect(dropByRules(base, rulesOf({ ...HERMES, maxCheckpoints: 1 }), NOW)).toEqual([
      { id: 'b', why: 'count' },
      { id: 'a', why: 'count' },
    ])
  })

  test('an unused project goes but for guarded checkpoints; on the last day it stays', () => {
    const at = (nowMs: number) =>
      dropByRules(base, rulesOf(HERMES), { nowMs, dropOrphans: true }).map(({ id }) => id)
    expect(at(7 * DAY_MS)).toEqual([])
    expect(at(7 * DAY_MS + 1)).toEqual(['d', 'b', 'a'])
  })

  test('its settings count, and those of the tiers do not', () => {
    expect(rulesOf(HERMES)).toEqual({
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
    expect(rulesOf(DEFAULT_CONFIG)).toEqual({
      tiers: { keepAllMs: 48 * HOUR_MS, keepPromptsMs: 30 * DAY_MS, keepDailyMs: 365 * DAY_MS },
      maxCheckpoints: null,
      unusedMs: 365 * DAY_MS,
      completedMs: 365 * DAY_MS,
      activeMs: 48 * HOUR_MS,
    })
    const many = { ...base, checkpoints: Array.from({ length: 500 }, (_, n) => point(`${n}`)) }
    expect(
      dropByRules(many, rulesOf(DEFAULT_CONFIG), { nowMs: DAY_MS, dropOrphans: true }),
    ).toEqual([])
  })

  test('limits that a caller gives count in addition', () => {
    const rules = rulesOf(DEFAULT_CONFIG, { maxCheckpoints: 2, retentionDays: 10 })
    expect(rules).toMatchObject({ maxCheckpoints: 2, unusedMs: 10 * DAY_MS })
    expect(dropByRules(base, rules, NOW)).toEqual([{ id: 'a', why: 'count' }])
    expect(dropByRules(base, rules, { nowMs: 11 * DAY_MS, dropOrphans: true })).toHaveLength(3)
  })

  test('what the tiers drop does not count, nor does a state without files', () => {
    const rules = rulesOf(DEFAULT_CONFIG, { maxCheckpoints: 1 })
    const at = 3 * DAY_MS
    const checkpoints = [
      point('new', null, { agedFromMs: at, createdAtMs: at }),
      point('state', null, { agedFromMs: at, createdAtMs: at, hasFiles: false }),
      point('hour', null, { group: 'hour', createdAtMs: 2 }),
      point('earlier', null, { group: 'hour', createdAtMs: 1 }),
    ]
    expect(dropByRules({ ...base, checkpoints }, rules, { nowMs: at, dropOrphans: true })).toEqual([
      { id: 'earlier', why: 'prompts' },
      { id: 'hour', why: 'count' },
    ])
  })

  test('the head of a session never goes without the session', () => {
    const checkpoints = [point('head', null, { isHead: true }), point('other')]
    const drop = (nowMs: number, isOrphan: boolean) =>
      dropByRules({ ...base, isOrphan, checkpoints }, rulesOf(DEFAULT_CONFIG), {
        nowMs,
        dropOrphans: true,
      }).map(({ id }) => id)
    expect(drop(400 * DAY_MS, false)).toEqual(['other'])
    expect(drop(1, true)).toEqual(['other'])
  })
})

test('an orphan goes only if that was asked for', () => {
  const orphan = { ...base, isOrphan: true }
  const drop = (dropOrphans: boolean) =>
    dropByRules(orphan, rulesOf(DEFAULT_CONFIG), { nowMs: 1, dropOrphans })
  expect(drop(false)).toEqual([])
  expect(drop(true).map(({ why }) => why)).toEqual(['orphan', 'orphan', 'orphan'])
})
