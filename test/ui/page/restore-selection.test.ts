// Which files of a plan are applied, and when two plans show the same.
import { expect, test } from 'vitest'
import type { Plan, PlanAction, PlanLine } from '../../../src/ui/api.js'
import {
  countActions,
  decide,
  isSelected,
  listedLines,
  pathsToApply,
  type Selection,
  showsSame,
} from '../../../ui/dialogs/restore/selection.js'

const ALL: Selection = { decisions: new Map(), only: undefined }

test('every file is selected at first, so no paths are sent', () => {
  const lines = [line('write', 'a'), line('remove', 'b'), line('keep', 'c')]
  expect(pathsToApply(lines, ALL)).toBe(undefined)
})

test('an unticked file is left out of the paths', () => {
  const lines = [line('write', 'a'), line('remove', 'b'), line('restore', 'c')]
  const selection = decide(ALL, [line('remove', 'b')], false)
  expect(pathsToApply(lines, selection)).toEqual(['a', 'c'])
})

test('a file that was a folder is listed beside the files that come back in it', () => {
  const lines = [
    line('write', 'd'),
    line('restore', 'd/x'),
    line('restore', 'e'),
    line('restore', 'e/x'),
  ]
  expect(listedLines(lines).map(({ path }) => path)).toEqual(['d', 'd/x', 'e/x'])
})

test('a new plan keeps what was unticked, and ticks new files', () => {
  const selection = decide(ALL, [line('write', 'a')], false)
  const next = [line('write', 'a'), line('write', 'b'), line('restore', 'new')]
  expect(next.map((one) => isSelected(one, selection))).toEqual([false, true, true])
})

test('a file that left the plan and came back is still unticked', () => {
  const selection = decide(ALL, [line('write', 'a')], false)
  expect(pathsToApply([line('write', 'b')], selection)).toBe(undefined)
  expect(pathsToApply([line('write', 'a'), line('write', 'b')], selection)).toEqual(['b'])
})

test('a request for single files selects only these and what is in them', () => {
  const only: Selection = { decisions: new Map(), only: ['src', 'a'] }
  const lines = ['a', 'ab', 'src/x', 'srcx'].map((path) => line('write', path))
  expect(pathsToApply(lines, only)).toEqual(['a', 'src/x'])
  expect(pathsToApply(lines, decide(only, [line('write', 'ab')], true))).toEqual([
    'a',
    'ab',
    'src/x',
  ])
})

test('a kept path cannot be ticked', () => {
  const kept = line('keep', 'mine')
  expect(isSelected(kept, decide(ALL, [kept], true))).toBe(false)
})

test('a conflict is selected until the user unticks it', () => {
  const lines = [line('conflict', 'big.bin'), line('write', 'a')]
  expect(isSelected(line('conflict', 'big.bin'), ALL)).toBe(true)
  expect(pathsToApply(lines, decide(ALL, [line('conflict', 'big.bin')], false))).toEqual(['a'])
})

test('a folder is listed only if nothing inside it is', () => {
  const lines = [line('restore', 'build'), line('restore', 'build/a'), line('remove', 'empty')]
  expect(listedLines(lines).map(({ path }) => path)).toEqual(['build/a', 'empty'])
})

test('the list is by path, after the wanted files and conflicts', () => {
  const lines = [
    line('write', 'c'),
    line('remove', 'a'),
    line('conflict', 'x'),
    line('write', 'src/b'),
  ]
  const paths = (only?: readonly string[]) => listedLines(lines, only).map(({ path }) => path)
  expect(paths()).toEqual(['x', 'a', 'c', 'src/b'])
  expect(paths(['src'])).toEqual(['src/b', 'x', 'a', 'c'])
})

test('a folder that is not listed is sent only if everything in it is selected', () => {
  const lines = [
    line('restore', 'build'),
    line('restore', 'build/a'),
    line('restore', 'build/b'),
    line('remove', 'old'),
    line('remove', 'old/c'),
  ]
  const selection = decide(ALL, [line('restore', 'build/b')], false)
  expect(pathsToApply(lines, selection)).toEqual(['build/a', 'old', 'old/c'])
})

test('nothing selected sends an empty list, not everything', () => {
  const lines = [line('write', 'a'), line('write', 'b')]
  expect(pathsToApply(lines, decide(ALL, lines, false))).toEqual([])
})

test('two plans that differ in token, time and running session show the same', () => {
  const one = plan({ token: 'a', madeAt: '2026-11-18T10:00:00.000Z' })
  expect(
    showsSame(one, plan({ token: 'b', madeAt: '2026-11-18T10:00:02.000Z', runningSession: 's' })),
  ).toBe(true)
})

test.each<[string, Partial<Plan>]>([
  ['a line', { lines: [line('write', 'a'), line('write', 'b')] }],
  ['a reason', { lines: [{ ...line('write', 'a'), reason: 'mode is 0755, was 0644' }] }],
  ['an author', { lines: [{ ...line('write', 'a'), author: 'you' }] }],
  ['the goal', { goal: 'other' }],
  ['a way that is not possible', { unavailable: { files: null, conversation: 'No key.' } }],
  ['nothing that can be applied', { token: null }],
])('plans that differ in %s do not show the same', (_, changed) => {
  expect(showsSame(plan({}), plan(changed))).toBe(false)
})

test('actions are counted', () => {
  const lines = [line('write', 'a'), line('write', 'b'), line('remove', 'c')]
  expect(countActions(lines)).toEqual({ write: 2, restore: 0, remove: 1, keep: 0, conflict: 0 })
})

function line(action: PlanAction, path: string): PlanLine {
  return { action, path, reason: null, author: null }
}

function plan(given: Partial<Plan>): Plan {
  return {
    token: 'token',
    kind: 'rewind',
    restore: 'files',
    target: null,
    goal: null,
    rewoundAt: null,
    lines: [line('write', 'a')],
    canSelect: true,
    notRestored: [],
    outside: [],
    unavailable: { files: null, conversation: null },
    conversation: null,
    runningSession: null,
    command: 'savestate rewind x',
    madeAt: '2026-11-18T10:00:00.000Z',
    ...given,
  }
}
