import { expect, test } from 'vitest'
import { PlanTokens } from '../../../src/ui/methods/plan-tokens.js'

test('the oldest plans are dropped once all plans have too many lines, but never the newest', () => {
  const tokens = new PlanTokens()
  const give = (lines: number) =>
    tokens.give({
      input: { kind: 'undo', project: '/project' },
      now: null,
      target: null,
      goal: null,
      lines: Array.from({ length: lines }, () => LINE),
    })
  const [first, second, third] = [give(200_000), give(200_000), give(200_000)]
  expect(() => tokens.take(first)).toThrow('too old')
  expect([tokens.take(second), tokens.take(third)].map(({ lines }) => lines.length)).toEqual([
    200_000, 200_000,
  ])
  expect(tokens.take(give(600_000)).lines.length).toBe(600_000)
})

const LINE = { action: 'write', path: 'a.txt', reason: null, author: null } as const
