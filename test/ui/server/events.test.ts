import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { EventStreams } from '../../../src/ui/server/events.js'

beforeEach(() => {
  vi.useFakeTimers()
  watches = []
  reports = []
})
afterEach(() => vi.useRealTimers())

let watches: string[] = []
let reports: string[] = []
const report = (error: unknown) => reports.push(String(error))
const watch = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    watches.push('begins')
    signal.addEventListener('abort', () => {
      watches.push('ends')
      resolve()
    })
  })

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

test('changes that follow quickly are reported at most four times a second, and the last one is not lost', async () => {
  const events = new EventStreams({ aliveMs: 1_000_000, watch, report })
  const { types } = openStream(events)
  for (let n = 0; n < 99; n += 1) {
    events.notifyChanged()
    vi.advanceTimersByTime(10)
  }
  expect(types).toEqual(['alive', 'changed', 'changed', 'changed', 'changed'])
  vi.advanceTimersByTime(10_000)
  expect(types).toEqual(['alive', 'changed', 'changed', 'changed', 'changed', 'changed'])
  await events.close()
})

test('every page gets every event, until it leaves', async () => {
  const events = new EventStreams({ aliveMs: 15_000, watch, report })
  const [first, second] = [openStream(events), openStream(events)]
  first.response.emit('close')
  expect([first.closed(), second.closed()]).toEqual([1, 0])
  vi.advanceTimersByTime(30_000)
  events.notifyChanged()
  expect([first.types, second.types]).toEqual([['alive'], ['alive', 'alive', 'alive', 'changed']])
  await events.close()
})

test('a page that left before its stream began does not count as open', async () => {
  const events = new EventStreams({ aliveMs: 15_000, watch, report })
  const gone = new ServerResponse(new IncomingMessage(new Socket()))
  gone.destroy()
  let closed = 0
  events.add(gone, () => (closed += 1))
  expect([closed, watches]).toEqual([1, []])
  await events.close()
  const late = openStream(events)
  expect([late.closed(), late.types, watches]).toEqual([1, [], []])
})

test('the store is watched while a page is open', async () => {
  const events = new EventStreams({ aliveMs: 15_000, watch, report })
  expect(watches).toEqual([])
  const [first, second] = [openStream(events), openStream(events)]
  first.response.emit('close')
  expect(watches).toEqual(['begins'])
  second.response.emit('close')
  expect(watches).toEqual(['begins', 'ends'])
  openStream(events)
  await events.close()
  expect(watches).toEqual(['begins', 'ends', 'begins', 'ends'])
})

test('a watch that fails begins again, and the changes meanwhile are reported as one', async () => {
  let failures = 2
  const events = new EventStreams({
    aliveMs: 1_000_000,
    watch: async (signal) => {
      if (failures === 0) return watch(signal)
      failures -= 1
      throw new Error('the ledger cannot be read')
    },
    report,
  })
  const { types } = openStream(events)
  await vi.advanceTimersByTimeAsync(999)
  expect([types, watches]).toEqual([['alive'], []])
  await vi.advanceTimersByTimeAsync(1001)
  expect([types, watches]).toEqual([['alive', 'changed', 'changed'], ['begins']])
  expect(reports).toEqual(['Error: the ledger cannot be read'])
  await events.close()
  expect(watches).toEqual(['begins', 'ends'])
})

test('the end does not wait for a watch that is to begin again', async () => {
  const failing = () => Promise.reject(new Error('the ledger cannot be read'))
  const events = new EventStreams({ aliveMs: 1_000_000, watch: failing, report })
  openStream(events)
  await vi.advanceTimersByTimeAsync(1)
  await events.close()
  expect(reports).toEqual(['Error: the ledger cannot be read'])
})
