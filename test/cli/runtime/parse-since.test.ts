import { expect, test } from 'vitest'
import { parseSince } from '../../../src/cli/runtime/parse-since.js'

const NOW = new Date('2026-11-19T12:00:00Z')

test('an age counts from now, and a date is local', () => {
  const texts = ['30m', '2h', '3d', '1w', '2026-11-01', '2026-11-01T14:30', '2026-11-01T14:30Z']
  expect(texts.map((text) => parseSince(text, NOW).getTime())).toEqual([
    Date.parse('2026-11-19T11:30:00Z'),
    Date.parse('2026-11-19T10:00:00Z'),
    Date.parse('2026-11-16T12:00:00Z'),
    Date.parse('2026-11-12T12:00:00Z'),
    new Date(2026, 10, 1).getTime(),
    new Date(2026, 10, 1, 14, 30).getTime(),
    Date.parse('2026-11-01T14:30:00Z'),
  ])
  for (const text of ['', '5', '3y', 'yesterday', '2026-13-01', '-1d'])
    expect(() => parseSince(text, NOW)).toThrow('--since takes an age or a date')
})
