import { expect, test } from 'vitest'
import {
  authorText,
  joinAuthors,
  attributeEvent,
  type ChangeEvent,
  resolveAuthors,
  type Task,
} from '../../../src/model/restore/author.js'
import { bytePath } from '../../../src/model/byte-path.js'
import type { Entry } from '../../../src/model/entry.js'
import { parseObjectId } from '../../../src/model/ids.js'
import { PathOwners } from '../../../src/model/restore/path-owners.js'

type Event = Omit<Extract<ChangeEvent, { type: 'event' }>, 'type' | 'who' | 'session'>

const claude = (event: Event): ChangeEvent => ({
  type: 'event',
  who: 'claude',
  session: 's',
  ...event,
})
const codex = (event: Event): ChangeEvent => ({
  type: 'event',
  who: 'codex',
  session: 't',
  ...event,
})
const LOOK: ChangeEvent = { type: 'look' }
const HOUR_MS = 60 * 60_000

/** The authors of the change that each scan finds, and which checkpoints each scan resolves. */
function follow(moments: readonly ChangeEvent[], stepMs = 1) {
  let tasks: readonly Task[] = []
  const found: (readonly string[] | null)[] = []
  for (const [n, moment] of moments.entries()) {
    const { authors, tasks: next, settled } = attributeEvent(tasks, moment, n * stepMs)
    found.push(authors)
    for (const made of settled) found[Number(made)] = resolveAuthors(found[Number(made)] ?? null)
    tasks = next(`${n}`)
  }
  return found.map(authorText)
}

test('a change belongs to the agent whose call preceded the scan, and to the user otherwise', () => {
  const turn = [claude({ over: 'session' }), claude({ begins: 'a' }), claude({ ends: 'a' })]
  expect(follow([...turn, claude({ begins: 'b' }), claude({ ends: 'b' }), LOOK])).toEqual([
    'you',
    'you',
    'claude',
    'you',
    'claude',
    'you',
  ])
})

test('a change found during a call is the agent’s alone once the end of the call is observed', () => {
  const under = [claude({ begins: 'a' }), LOOK, codex({ begins: 'x' }), codex({ ends: 'x' })]
  expect(follow(under)).toEqual(['you', 'claude+you', 'claude+you', 'claude+codex'])
  expect(follow([...under, claude({ ends: 'a' })])).toEqual([
    'you',
    'claude',
    'claude',
    'claude+codex',
    'claude',
  ])
})

test('a call without an observed end or start leaves the author uncertain', () => {
  expect(follow([claude({ begins: 'a' }), claude({ over: 'session' }), LOOK])).toEqual([
    'you',
    'claude+you',
    'you',
  ])
  expect(follow([claude({ ends: 'a' })])).toEqual(['claude+you'])
  const next = claude({ begins: 'b', over: 'agent' })
  expect(follow([claude({ begins: 'a' }), LOOK, next, claude({ ends: 'b' })])).toEqual([
    'you',
    'claude+you',
    'claude+you',
    'claude',
  ])
  // Another call of a subagent may be running.
  const inner = claude({ begins: 'b', over: 'agent', agentId: 'sub' })
  expect(follow([claude({ begins: 'a' }), inner, claude({ ends: 'a' })]).at(-1)).toBe('claude')
})

test('two indistinguishable calls end one after the other', () => {
  const twice = [claude({ begins: 'a' }), claude({ begins: 'a' })]
  expect(follow([...twice, claude({ ends: 'a' }), claude({ ends: 'a' }), LOOK])).toEqual([
    'you',
    'claude',
    'claude',
    'claude',
    'you',
  ])
})

test('the saving caller names the author, and a running agent is named too', () => {
  const said = (...who: readonly string[]): ChangeEvent => ({ type: 'said', who })
  expect(
    follow([said('make'), claude({ begins: 'a' }), said('you'), claude({ ends: 'a' })]),
  ).toEqual(['make', 'you', 'claude+you', 'claude'])
})

test('a call without news for an hour is over', () => {
  expect(follow([claude({ begins: 'a' }), LOOK], HOUR_MS)).toEqual(['you', 'you'])
})

test('an unknown author stays unknown when changes are merged', () => {
  expect(joinAuthors(['you'], ['claude'])).toEqual(['claude', 'you'])
  expect(joinAuthors([], ['claude'])).toEqual(['claude'])
  expect(joinAuthors(null, ['claude'])).toBeNull()
  expect(authorText([])).toBeNull()
})

test('a rewind is named only if no one else has changed anything', () => {
  expect(authorText(['rewind'])).toBe('rewind')
  expect(authorText(['rewind', 'you'])).toBe('you')
  expect(authorText(['claude', 'codex', 'rewind'])).toBe('claude+codex')
})

test('a path is the user’s from their first change on, and a rewind restores the earlier owner', () => {
  const content = (letter: string): Entry => ({
    type: 'file',
    blob: parseObjectId(letter.repeat(40)),
    mode: 0o644,
  })
  const path = bytePath('f')
  const isUsers = (...steps: readonly (readonly [string, ...string[]])[]) => {
    const owners = new PathOwners()
    let before: Entry | undefined
    for (const [letter, ...authors] of steps) {
      const after = letter === '-' ? undefined : content(letter)
      owners.follow({ path, before, after }, authors)
      before = after
    }
    return owners.userPaths().length === 1
  }
  expect(isUsers(['a', 'claude'])).toBe(false)
  expect(isUsers(['a', 'you'], ['b', 'claude'])).toBe(true)
  expect(isUsers(['a', 'claude'], ['b', 'claude', 'you'])).toBe(true)
  expect(isUsers(['a', 'claude'], ['b', 'you'], ['a', 'rewind'])).toBe(false)
  expect(isUsers(['a', 'you'], ['-', 'rewind'], ['a', 'rewind'])).toBe(true)
  expect(isUsers(['a', 'you'], ['b', 'claude'], ['-', 'rewind'], ['b', 'rewind'])).toBe(true)
  expect(isUsers(['a', 'you'], ['-', 'rewind'])).toBe(false)
  expect(isUsers(['a', 'you'], ['-', 'rewind'], ['b', 'claude'])).toBe(false)
})
