// The sentences of the restore dialog.
import { expect, test } from 'vitest'
import type { Applied, Plan } from '../../../src/ui/api.js'
import {
  buttonText,
  commandLabel,
  commandText,
  countsText,
  noneTickedText,
  noticeText,
  reversalTitle,
  rewindTitle,
} from '../../../ui/dialogs/restore/words.js'

const NOW = new Date(2026, 10, 18, 15, 0)
const at = new Date(2026, 10, 18, 14, 21).toISOString()
const row = {
  id: 'blmnflvcbcdfghjklm',
  name: null,
  reason: 'You: Make login work',
  moment: 'before' as const,
  createdAt: at,
}

test('the title names the prompt, its side and its time', () => {
  expect(rewindTitle(row, { before: false, now: NOW })).toBe(
    'Go back to before “Make login work” (14:21)',
  )
})

test('the title of a call says after, and before with the switch', () => {
  const call = { ...row, reason: 'Bash: npm test', moment: 'after' as const }
  expect(rewindTitle(call, { before: false, now: NOW })).toBe(
    'Go back to after “Bash: npm test” (14:21)',
  )
  expect(rewindTitle(call, { before: true, now: NOW })).toBe(
    'Go back to before “Bash: npm test” (14:21)',
  )
})

test('the title of an older save has its date, one without a message its id', () => {
  const old = {
    ...row,
    reason: 'works',
    moment: null,
    createdAt: new Date(2025, 0, 2, 9, 5).toISOString(),
  }
  expect(rewindTitle(old, { before: false, now: NOW })).toBe(
    'Go back to “works” (2 Jan 2025, 09:05)',
  )
  const bare = { ...row, reason: null, moment: null }
  expect(rewindTitle(bare, { before: false, now: NOW })).toBe('Go back to blmnflvc (14:21)')
})

test('hidden characters of a prompt are visible in the title', () => {
  const hostile = { ...row, reason: 'You: a\u202eb\nc' }
  expect(rewindTitle(hostile, { before: false, now: NOW })).toBe(
    'Go back to before “a\\u202eb c” (14:21)',
  )
})

test('the title of single files names them', () => {
  const title = (only: readonly string[]) => rewindTitle(row, { before: false, now: NOW, only })
  expect(title(['src/a.ts'])).toBe('Go back to before “Make login work” (14:21): only src/a.ts')
  expect(title(['a', 'b'])).toBe('Go back to before “Make login work” (14:21): only 2 files')
})

test('undo and redo name the rewind', () => {
  expect(reversalTitle('undo', { rewoundAt: at, now: NOW })).toBe('Undo the rewind of 14:21')
  expect(reversalTitle('redo', { rewoundAt: null, now: NOW })).toBe('Repeat the rewind')
})

test.each<[Plan['kind'], Plan['restore'], number, string]>([
  ['rewind', 'files', 8, 'Go back: 8 files'],
  ['rewind', 'files', 1, 'Go back: 1 file'],
  ['rewind', 'conversation', 0, 'Go back: conversation'],
  ['rewind', 'both', 2, 'Go back: 2 files and conversation'],
  ['rewind', 'both', 0, 'Go back: conversation'],
  ['undo', 'files', 3, 'Undo: 3 files'],
  ['redo', 'files', 0, 'Repeat'],
  ['undoStep', 'files', 2, 'Undo this step: 2 files'],
])('the button of %s, %s, %i files', (kind, restore, files, text) => {
  expect(buttonText({ kind, restore }, files)).toBe(text)
})

test('a path that cannot be merged is a conflict, not in the way', () => {
  const counts = { write: 1, restore: 0, remove: 0, keep: 0, conflict: 1 }
  expect([countsText(counts, 'undoStep'), countsText(counts, 'rewind')]).toEqual([
    '1 written · 1 in conflict',
    '1 written · 1 in the way',
  ])
})

test('the counts leave out what is zero', () => {
  expect(countsText({ write: 6, restore: 2, remove: 1, keep: 1, conflict: 0 }, 'rewind')).toBe(
    '6 written · 2 come back · 1 removed · 1 stays as it is',
  )
})

test.each<[Plan['kind'], Partial<Pick<Applied, 'restore' | 'written' | 'removed'>>, string]>([
  ['rewind', { written: 8 }, '8 files brought back.'],
  ['undoStep', { written: 2, removed: 1 }, 'The step was undone: 2 files changed, 1 removed.'],
  ['rewind', { written: 1, removed: 2 }, '1 file brought back, 2 removed.'],
  ['rewind', { removed: 1 }, '1 file removed.'],
  ['rewind', { restore: 'conversation' }, 'The conversation went back.'],
  ['undo', { written: 2 }, 'The rewind was undone: 2 files brought back.'],
  ['redo', {}, 'The rewind was repeated.'],
])('the bar after %s %o', (kind, given, text) => {
  const applied = { restore: 'files' as const, written: 0, removed: 0, ...given }
  expect(noticeText(kind, applied)).toBe(text)
})

test('the command has the selected paths, quoted for the shell', () => {
  expect(commandText('savestate rewind x', undefined)).toBe('savestate rewind x')
  expect(commandText('savestate rewind x', ['src/a.ts', "it's", '-n'])).toBe(
    "savestate rewind x -- src/a.ts 'it'\\''s' -n",
  )
})

test('a command without its many paths says that it is for all files', () => {
  const many = Array.from({ length: 21 }, (_, n) => `file-${n}`)
  expect([commandText('savestate rewind x', many), commandLabel(many)]).toEqual([
    'savestate rewind x',
    'In a terminal, for all files:',
  ])
  expect(commandLabel(undefined)).toBe('The same in a terminal:')
})

test('a plan of which nothing is ticked says so', () => {
  const lines = [{ action: 'write', path: 'src/a.ts', reason: null, author: null }] as const
  const text = (changes: number, only?: readonly string[]) =>
    noneTickedText({ lines, restore: 'files' }, { changes, only })
  expect(text(1)).toBe(null)
  expect(text(0)).toBe('No file is ticked.')
  expect(text(0, ['src'])).toBe('No file is ticked.')
  expect(text(0, ['b.ts'])).toBe(
    'Nothing to do: b.ts is as it was then. Other files differ; tick those that are to go back.',
  )
})
