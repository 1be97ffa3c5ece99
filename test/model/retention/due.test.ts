// Which sessions a prune of a remote has to read.
import { expect, test } from 'vitest'
import { DEFAULT_CONFIG, isRetentionDue, retentionPolicy } from '../../../src/model/index.js'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const policy = retentionPolicy(DEFAULT_CONFIG)

/** A session of one hour, `days` ago; the last prune was `since` days ago. */
const isDue = (days: number, since: number, checkpoints = 5) => {
  const nowMs = 1000 * DAY_MS
  const fromMs = nowMs - days * DAY_MS
  const ages = { fromMs, untilMs: fromMs + HOUR_MS, checkpoints }
  return isRetentionDue(ages, policy, { nowMs, sinceMs: nowMs - since * DAY_MS })
}

test('nothing goes before the first limit', () => {
  expect([isDue(1.9, 1000), isDue(2.1, 1000)]).toEqual([false, true])
})

test('after a prune only what has passed a limit since then can go', () => {
  expect([isDue(2.5, 1), isDue(3.5, 1), isDue(29, 1), isDue(30.5, 1)]).toEqual([
    true,
    false,
    false,
    true,
  ])
  expect([isDue(200, 1), isDue(365.5, 1)]).toEqual([false, true])
})

test('a shorter later limit does not shorten an earlier one', () => {
  const strict = retentionPolicy({ ...DEFAULT_CONFIG, keepPromptsDays: 0, keepDailyDays: 0 })
  const ages = { fromMs: 0, untilMs: 0, checkpoints: 5 }
  const isDueAt = (nowMs: number) => isRetentionDue(ages, strict, { nowMs, sinceMs: 0 })
  expect([isDueAt(47 * HOUR_MS), isDueAt(49 * HOUR_MS)]).toEqual([false, true])
})

test('the last checkpoint goes with the session only', () => {
  expect([isDue(2.5, 1, 1), isDue(40, 1000, 1), isDue(365.5, 1, 1)]).toEqual([false, false, true])
})

test('a limit on the number of checkpoints depends on all sessions', () => {
  const hermes = retentionPolicy({ ...DEFAULT_CONFIG, retention: 'hermes' })
  const ages = { fromMs: 0, untilMs: 0, checkpoints: 1 }
  expect(isRetentionDue(ages, hermes, { nowMs: 1, sinceMs: 1 })).toBe(true)
})
