// Tables fit the terminal they are on.
import { expect, test } from 'vitest'
import { checkpointTable, stepTable } from '../../src/cli/checkpoint-table.js'
import type { Screen } from '../../src/cli/screen.js'
import { sessionsTable } from '../../src/cli/sessions-table.js'
import { widthOf } from '../../src/cli/text-width.js'
import type { CheckpointView, SessionView } from '../../src/index.js'

const NOW = new Date('2026-11-15T12:00:00Z')

function screenOf(width: number): Screen {
  const plain = (_: string, text: string) => text
  const none = () => undefined
  return {
    paint: plain,
    paintNote: plain,
    isTerminal: true,
    width,
    now: NOW,
    print: none,
    note: none,
  }
}

function checkpoint(facts: Partial<CheckpointView>): CheckpointView {
  return {
    id: 'bcdfghjklmnpqrstvw',
    name: null,
    reason: 'the login works again, and the tests pass on all three systems',
    createdAt: '2026-11-15T10:00:00Z',
    session: null,
    step: null,
    status: null,
    files: 3,
    insertions: 120,
    deletions: 45,
    skipped: 0,
    skippedByReason: {},
    hasState: false,
    hasFiles: true,
    pinned: false,
    kind: 'save',
    moment: null,
    author: 'you',
    ...facts,
  }
}

const IN_SESSION = checkpoint({
  id: 'bzzzzzzzzzzzzzzzzz',
  session: 'a-session-with-a-rather-long-name',
  step: 120,
  hasState: true,
  status: 'in_progress',
})
const STATE_ALONE = checkpoint({
  ...IN_SESSION,
  id: 'czzzzzzzzzzzzzzzzz',
  hasFiles: false,
  reason: '\u001b[31mred',
})

function session(facts: Partial<SessionView>): SessionView {
  return {
    id: 'fix-login',
    agent: 'coder',
    project: '/home/someone/projects/a/rather/long/way/down/to/the/project',
    status: 'in_progress',
    createdAt: '2026-11-15T10:00:00Z',
    updatedAt: '2026-11-15T10:00:00Z',
    head: null,
    steps: 12,
    turn: 0,
    metadata: null,
    forkedFrom: null,
    interrupted: false,
    ...facts,
  }
}

const SESSIONS = [
  session({ interrupted: true }),
  session({
    id: '文件很长'.repeat(20),
    agent: null,
    project: null,
    status: 'failed: no \u001b[31m',
  }),
]

test('a list without sessions has no column for them', () => {
  expect(checkpointTable([checkpoint({})], screenOf(80))).toBe(
    '1  bcdf  2 h ago  3 files +120 −45  the login works again, and the tests pass o…',
  )
})

test('a list with sessions is readable in 80 columns', () => {
  const text = checkpointTable([checkpoint({}), IN_SESSION, STATE_ALONE], screenOf(80))
  expect(text.split('\n')).toEqual([
    '1  bcdf  2 h ago                     3 files +120 −45         the login works a…',
    '2  bzzz  2 h ago  a-session-wi…:120  3 files +120 −45, state  the login works a…',
    '3  czzz  2 h ago  a-session-wi…:120  state                    \\x1b[31mred',
  ])
  expect(stepTable([IN_SESSION, STATE_ALONE], screenOf(80)).split('\n')).toEqual([
    'step 120  bzzz  2 h ago  3 files +120 −45, state  the login works again, and th…',
    'step 120  czzz  2 h ago  state                    \\x1b[31mred',
  ])
})

test('where an agent has changed something, who it was is told before the session is', () => {
  const rows = [
    checkpoint({ author: 'claude' }),
    { ...IN_SESSION, author: 'claude+you' },
    { ...STATE_ALONE, author: null },
  ]
  expect(checkpointTable(rows, screenOf(80)).split('\n')).toEqual([
    '1  bcdf  2 h ago  claude      3 files +120 −45         the login works again, a…',
    '2  bzzz  2 h ago  claude+you  3 files +120 −45, state  the login works again, a…',
    '3  czzz  2 h ago              state                    \\x1b[31mred',
  ])
  expect(checkpointTable(rows, screenOf(50)).split('\n')[1]).toBe(
    '2  bzzz  2 h ago  claude+you  the login works aga…',
  )
  // Nobody but the person: there is nothing to tell apart.
  const alone = [checkpoint({ author: 'you' }), checkpoint({ author: 'rewind' })]
  expect(checkpointTable(alone, screenOf(80))).not.toMatch(/you|rewind/)
})

test('no line of a table is wider than the terminal, however narrow', () => {
  for (const width of [40, 60, 80, 120]) {
    const tables = [
      checkpointTable([checkpoint({}), IN_SESSION, STATE_ALONE], screenOf(width)),
      stepTable([IN_SESSION, STATE_ALONE], screenOf(width)),
      sessionsTable(SESSIONS, screenOf(width)),
    ]
    for (const line of tables.join('\n').split('\n'))
      expect({ width, line, fits: widthOf(line) <= width }).toEqual({ width, line, fits: true })
  }
})

test('sessions keep their id and status when the room gets short', () => {
  const [first] = SESSIONS
  const lineAt = (width: number) =>
    sessionsTable(first === undefined ? [] : [first], screenOf(width))
  expect([200, 80, 45, 40].map(lineAt)).toEqual([
    'fix-login  coder  interrupted  12 steps  2 h ago  /home/someone/projects/a/rather/long/way/down/to/the/project',
    'fix-login  coder  interrupted  12 steps  2 h ago  …/long/way/down/to/the/project',
    'fix-login  coder  interrupted  …o/the/project',
    'fix-login  interrupted  …/to/the/project',
  ])
})

test.each([30, 20, 1])('a terminal of %i columns still shows the ids of sessions', (width) => {
  const lines = sessionsTable(SESSIONS, screenOf(width)).split('\n')
  expect(lines[0]).toMatch(/^fix-login +interrupted /)
})

test('in a pipe nothing is cut', () => {
  expect(sessionsTable(SESSIONS, screenOf(Infinity))).toContain('文件很长'.repeat(20))
})
