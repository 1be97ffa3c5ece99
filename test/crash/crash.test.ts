// I6: a save, rewind or undo killed at any failpoint is finished or undone by the next command, and nothing
// captured is lost. The kill is real: SIGKILL in a child, at the failpoint that SAVESTATE_FAILPOINT names.
/* oxlint-disable vitest/expect-expect -- expectRecovered does */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Operation, POINTS } from './crash-points.js'
import { CrashScenario, NEXT } from './crash-scenario.js'

let crash: CrashScenario

beforeAll(async () => {
  crash = await CrashScenario.create()
})

afterAll(() => crash.s.dispose())

test('the scenario contains a change of every kind', () => {
  const { before, after } = crash.stories.rewind
  expect(after).toEqual(crash.worlds.first)
  expect(before).not.toEqual(after)
  const changed = [...new Set([...before.keys(), ...after.keys()])].flatMap((path) => {
    const [from, to] = [before.get(path), after.get(path)]
    return JSON.stringify(from) === JSON.stringify(to) ? [] : `${from?.type} to ${to?.type}`
  })
  const types = ['file', 'folder', 'link', 'undefined']
  const all = types.flatMap((from) => types.map((to) => `${from} to ${to}`))
  expect([...new Set(changed)].sort()).toEqual(
    all.filter((change) => change !== 'undefined to undefined').sort(),
  )
  expect(after.get('later/debug.log')).toEqual(before.get('later/debug.log'))
})

const cases = Object.entries(POINTS).flatMap(([operation, points]) =>
  Object.entries(points).flatMap(([point, visits]) =>
    Array.from({ length: visits }, (_, i) => ({
      operation: operation as Operation,
      point: i === 0 ? point : `${point}@${i + 1}`,
    })),
  ),
)

/** These are tried with every next command. */
const EVERY_NEXT = ['apply:remove@2', 'apply:place@2']

describe('the next command finishes or undoes an operation killed at a failpoint', () => {
  const turns = cases
    .filter(({ operation, point }) => operation !== 'rewind' || !EVERY_NEXT.includes(point))
    .map((item, i) => ({ ...item, next: NEXT[i % NEXT.length] ?? 'save' }))
  test.each(turns)('$operation at $point, then $next', async ({ operation, point, next }) => {
    crash.kill(operation, point)
    await crash.expectRecovered(operation, next)
  })
})

describe('any command recovers', () => {
  test.each(EVERY_NEXT.flatMap((point) => NEXT.map((next) => ({ point, next }))))(
    'rewind at $point, then $next',
    async ({ point, next }) => {
      crash.kill('rewind', point)
      await crash.expectRecovered('rewind', next)
    },
  )
})

describe('a recovery that is killed too', () => {
  const points = [
    'capture:hashed',
    'capture:stored',
    'restore:journaled',
    'apply:staged',
    'apply:aside',
    'apply:removed',
    'apply:place',
    'apply:place@2',
    'apply:modes-set',
    'restore:applied',
    'asides:removed',
    'record:ref-written',
    'restore:before-row',
    'restore:after-row',
    'restore:done',
  ]
  test.each(points)('rewind at apply:remove@2, then list at %s, then save', async (point) => {
    crash.kill('rewind', 'apply:remove@2')
    crash.runChild([['list']], point)
    await crash.expectRecovered('rewind', 'save')
  })

  test('three times in a row', async () => {
    crash.kill('undo', 'apply:staged')
    crash.runChild([['list']], 'apply:remove')
    crash.runChild([['save']], 'apply:place')
    crash.runChild([['diff', { to: crash.ids.first }]], 'restore:applied')
    await crash.expectRecovered('undo', 'list')
  })
})

test('a checkpoint without a row does not exist', async () => {
  crash.kill('save', 'save:before-row')
  const listed = await crash.withProject((project) => project.list())
  expect(listed.map(({ id }) => id)).toEqual([crash.ids.second, crash.ids.first])
  crash.kill('save', 'save:after-row')
  const after = await crash.withProject((project) => project.list())
  expect(after.map(({ reason }) => reason)).toEqual(['killed', 'second', 'first'])
})
