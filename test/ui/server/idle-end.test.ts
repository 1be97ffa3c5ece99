import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { IdleEnd } from '../../../src/ui/server/idle-end.js'

const IDLE_MS = 1000
let ends = 0

beforeEach(() => {
  vi.useFakeTimers()
  ends = 0
})
afterEach(() => vi.useRealTimers())

function idleEnd(): IdleEnd {
  const idle = new IdleEnd(IDLE_MS, () => (ends += 1))
  idle.touch()
  return idle
}

test('it ends once the time has passed without a request', () => {
  const idle = idleEnd()
  vi.advanceTimersByTime(IDLE_MS - 1)
  idle.touch()
  vi.advanceTimersByTime(IDLE_MS - 1)
  expect(ends).toBe(0)
  vi.advanceTimersByTime(1)
  expect(ends).toBe(1)
})

test('an open page keeps it alive, and the time begins when the last one is closed', () => {
  const idle = idleEnd()
  const closeFirst = idle.openPage()
  const closeSecond = idle.openPage()
  closeFirst()
  // A connection may report its end twice.
  closeFirst()
  idle.touch()
  vi.advanceTimersByTime(100 * IDLE_MS)
  expect(ends).toBe(0)
  closeSecond()
  vi.advanceTimersByTime(IDLE_MS)
  expect(ends).toBe(1)
})

test('a stopped one never ends', () => {
  const idle = idleEnd()
  const close = idle.openPage()
  idle.stop()
  close()
  idle.touch()
  vi.advanceTimersByTime(100 * IDLE_MS)
  expect(ends).toBe(0)
})
