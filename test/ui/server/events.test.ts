import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { EventStreams } from '../../../src/ui/server/events.js'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => vi.useRealTimers())

function openStream(events: EventStreams) {
  const response = new ServerResponse(new IncomingMessage(new Socket()))
  const types: string[] = []
  vi.spyOn(response, 'write').mockImplementation((line) => {
    types.push(JSON.parse(String(line)).type)
    return true
  })
  let closed = 0
  events.add(response, () => (closed += 1))
  return { response, types, closed: () => closed }
}

test('changes that follow quickly are reported at most four times a second, and the last one is not lost', () => {
  const events = new EventStreams({ aliveMs: 1_000_000 })
  const { types } = openStream(events)
  for (let n = 0; n < 99; n += 1) {
    events.notifyChanged()
    vi.advanceTimersByTime(10)
  }
  expect(types).toEqual(['alive', 'changed', 'changed', 'changed', 'changed'])
  vi.advanceTimersByTime(10_000)
  expect(types).toEqual(['alive', 'changed', 'changed', 'changed', 'changed', 'changed'])
  events.close()
})

test('every page gets every event, until it leaves', () => {
  const events = new EventStreams({ aliveMs: 15_000 })
  const [first, second] = [openStream(events), openStream(events)]
  first.response.emit('close')
  expect([first.closed(), second.closed()]).toEqual([1, 0])
  vi.advanceTimersByTime(30_000)
  events.notifyChanged()
  expect([first.types, second.types]).toEqual([['alive'], ['alive', 'alive', 'alive', 'changed']])
  events.close()
})
