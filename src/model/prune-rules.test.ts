import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type CheckpointId } from './ids.js'
import { dropByRules, fewest, type Guard, orderForSize, type Prunable } from './prune-rules.js'

const DAY_MS = 86_400_000
const point = (id: string, guard: Guard | null = null): Prunable => ({
  id: id as CheckpointId,
  guard,
})
const base = {
  isOrphan: false,
  touchedAtMs: 0,
  checkpoints: [point('d'), point('c', 'named'), point('b'), point('a')],
  maxCheckpoints: 20,
  retentionMs: 7 * DAY_MS,
}

test('the newest stay, and what is guarded comes on top', () => {
  expect(dropByRules({ ...base, maxCheckpoints: 1 }, { nowMs: 1, dropOrphans: true })).toEqual([
    { id: 'b', why: 'count' },
    { id: 'a', why: 'count' },
  ])
})

test('a project that nobody touched goes but for what is guarded; on the last day it stays', () => {
  const at = (nowMs: number) => dropByRules(base, { nowMs, dropOrphans: true }).map(({ id }) => id)
  expect(at(7 * DAY_MS)).toEqual([])
  expect(at(7 * DAY_MS + 1)).toEqual(['d', 'b', 'a'])
})

test('an orphan goes only if that was asked for', () => {
  const orphan = { ...base, isOrphan: true }
  expect(dropByRules(orphan, { nowMs: 1, dropOrphans: false })).toEqual([])
  expect(dropByRules(orphan, { nowMs: 1, dropOrphans: true }).map(({ why }) => why)).toEqual([
    'orphan',
    'orphan',
    'orphan',
  ])
})

test('for size, projects take turns, the oldest first, and each keeps one', () => {
  const a = [point('a3'), point('a2'), point('a1')]
  const b = [point('b1')]
  const c = [point('c3', 'pinned'), point('c2'), point('c1')]
  const order = (given: readonly number[]) =>
    orderForSize([a, b, c].map((checkpoints, n) => ({ checkpoints, given: given[n] ?? 0 })))
  expect(order([])).toEqual(['a1', 'c1', 'a2', 'c2'])
  expect(order([1, 0, 0])).toEqual(['c1', 'a1', 'c2', 'a2'])
})

test('whatever the projects, guarded ones never go and none is left empty', () => {
  const guards = fc.option(fc.constantFrom<Guard>('pinned', 'named', 'session', 'thread'))
  fc.assert(
    fc.property(fc.array(fc.array(guards, { maxLength: 6 }), { maxLength: 6 }), (shape) => {
      const projects = shape.map((list, p) => list.map((guard, n) => point(`${p}-${n}`, guard)))
      const order = orderForSize(projects.map((checkpoints) => ({ checkpoints, given: 0 })))
      expect(new Set(order).size).toBe(order.length)
      for (const project of projects) {
        const left = project.filter(({ id }) => !order.includes(id))
        expect(left.length).toBeGreaterThanOrEqual(Math.min(1, project.length))
        expect(left.filter(({ guard }) => guard !== null)).toEqual(
          project.filter(({ guard }) => guard !== null),
        )
      }
    }),
  )
})

test('the fewest steps are found', async () => {
  for (const needed of [0, 1, 5, 9])
    expect(await fewest(9, async (steps) => steps >= needed)).toBe(needed)
})
