// Finding and marking words.
import { expect, test } from 'vitest'
import type { Output, Row } from '../../../src/ui/api.js'
import {
  excerpt,
  findLoaded,
  markWords,
  mergeFound,
  wordsOf,
} from '../../../ui/views/search/find.js'

test('a query is words without case and without repeats', () => {
  expect(wordsOf('  Login  login SSO ')).toEqual(['login', 'sso'])
})

test('a loaded row must have all words in its name and reason', () => {
  const rows = [
    row('a', { reason: 'You: Make login work' }),
    row('b', { reason: 'login', name: 'Works' }),
    row('c', { reason: 'Bash: npm test' }),
  ]
  expect(findLoaded(rows, ['login', 'work']).map(({ row: { id } }) => id)).toEqual(['a', 'b'])
  expect(findLoaded(rows, [])).toEqual([])
})

test('the answer of the server adds prompts and paths, newest first', () => {
  const [old, fresh] = [row('old', { at: 1 }), row('new', { at: 2 })]
  const answer: Output<'search'> = {
    matches: [{ ...fresh, prompt: 'all of it', paths: ['src/login.ts'] }],
    hits: [
      { checkpoint: 'new', session: null, where: 'answer', text: 'logged in' },
      { checkpoint: 'new', session: null, where: 'path', text: 'src/login.ts' },
    ],
    searched: 1,
    isComplete: false,
  }
  const known = { row: old, prompt: null, paths: [], lines: [] }
  expect(mergeFound([known], answer)).toEqual([
    { row: fresh, prompt: 'all of it', paths: ['src/login.ts'], lines: ['logged in'] },
    known,
  ])
  expect(mergeFound([known], undefined)).toEqual([known])
})

test('words are marked, also where they overlap', () => {
  expect(markWords('Login logins', ['login', 'gins'])).toEqual([
    { text: 'Login', isHit: true },
    { text: ' ', isHit: false },
    { text: 'logins', isHit: true },
  ])
  expect(markWords('', ['a'])).toEqual([])
  expect(markWords('İstanbul', ['istanbul'])).toEqual([{ text: 'İstanbul', isHit: false }])
})

test('an excerpt is around the first word', () => {
  const text = `${'x '.repeat(100)}login${' y'.repeat(100)}`
  const cut = excerpt(text, ['login'], 80)
  expect(cut).toContain('login')
  expect([cut.startsWith('…'), cut.endsWith('…'), cut.length]).toEqual([true, true, 82])
  expect(excerpt('short\n text', ['text'], 80)).toBe('short text')
})

function row(
  id: string,
  {
    at = 0,
    reason = null,
    name = null,
  }: { readonly at?: number; readonly reason?: string | null; readonly name?: string | null },
): Row {
  return {
    id,
    name,
    reason,
    createdAt: new Date(at).toISOString(),
    session: null,
    sessionAgent: null,
    turn: null,
    step: null,
    status: null,
    files: 0,
    insertions: 0,
    deletions: 0,
    skipped: 0,
    skippedByReason: {},
    hasState: false,
    hasFiles: true,
    pinned: false,
    kind: 'save',
    moment: null,
    author: null,
  }
}
