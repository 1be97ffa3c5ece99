// A lease as its holder counts it: by the clock of the wall or the monotonic one, whichever says that more time has passed.
import { afterEach, expect, test, vi } from 'vitest'
import { HeldLease } from '../../../../src/engine/sharing/leases/held-lease.js'
import { LEASE_MARGIN_MS, REMOTE_LEASE_MS } from '../../../../src/model/index.js'

const LEASE = { log: { kind: 'session', id: 'task' }, fence: 1 } as const
const SAFE_MS = REMOTE_LEASE_MS - LEASE_MARGIN_MS
const HOUR_MS = 3_600_000

afterEach(() => {
  vi.restoreAllMocks()
})

/** Taken when both clocks were at one hour. */
function hold() {
  const clocks = { wallMs: HOUR_MS, steadyMs: HOUR_MS }
  vi.spyOn(performance, 'now').mockImplementation(() => clocks.steadyMs)
  return { clocks, held: new HeldLease(LEASE, { ...clocks }, { nowMs: () => clocks.wallMs }) }
}

test('it is safe until the margin before its end', () => {
  const { clocks, held } = hold()
  clocks.wallMs += SAFE_MS - 1
  clocks.steadyMs += SAFE_MS - 1
  expect(held.isSafe).toBe(true)
  clocks.wallMs += 1
  clocks.steadyMs += 1
  expect(held.isSafe).toBe(false)
})

test('a clock of the wall that is set back does not make it longer', () => {
  const { clocks, held } = hold()
  clocks.wallMs -= HOUR_MS / 2
  clocks.steadyMs += SAFE_MS
  expect(held.isSafe).toBe(false)
})

test('time that passed while the monotonic clock stood still counts', () => {
  const { clocks, held } = hold()
  clocks.wallMs += SAFE_MS
  expect(held.isSafe).toBe(false)
})

test('it counts from when the renewal was sent, and an earlier renewal that is answered later changes nothing', () => {
  const { clocks, held } = hold()
  const [first, second] = [
    { wallMs: HOUR_MS + 10_000, steadyMs: HOUR_MS + 10_000 },
    { wallMs: HOUR_MS + 20_000, steadyMs: HOUR_MS + 20_000 },
  ]
  held.renewed(second)
  held.renewed(first)
  clocks.wallMs = clocks.steadyMs = HOUR_MS + 20_000 + SAFE_MS - 1
  expect(held.isSafe).toBe(true)
  clocks.wallMs = clocks.steadyMs = HOUR_MS + 20_000 + SAFE_MS
  expect(held.isSafe).toBe(false)
})
