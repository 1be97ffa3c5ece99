// Tables fit the terminal they are on.
import { expect, test } from 'vitest'
import { groupByPrompt } from '../../../src/cli/render/checkpoint-groups.js'
import {
  checkpointTable,
  hasSeveralAuthors,
  type ListRow,
} from '../../../src/cli/render/checkpoint-table.js'
import type { Screen } from '../../../src/cli/terminal/screen.js'
import { sessionsTable } from '../../../src/cli/render/sessions-table.js'
import { widthOf } from '../../../src/cli/terminal/text-width.js'
import type { CheckpointView, SessionView } from '../../../src/index.js'

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
    createdAt: new Date('2026-11-15T10:00:00Z'),
    session: null,
    sessionAgent: null,
    turn: null,
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
    createdAt: new Date('2026-11-15T10:00:00Z'),
    updatedAt: new Date('2026-11-15T10:00:00Z'),
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

/** The rows of a project, newest first, as `savestate list` prints them. */
function table(
  checkpoints: readonly CheckpointView[],
  { width = 80, ...layout }: { width?: number; limit?: number; promptsOnly?: boolean } = {},
): string[] {
  const rows = checkpoints.map((row, index): ListRow => {
    return { ...row, shortId: row.id.slice(0, 4), label: `${index + 1}` }
  })
  const { limit = rows.length, promptsOnly = false } = layout
  const text = checkpointTable(groupByPrompt(rows), {
    screen: screenOf(width),
    shown: ({ label }) => Number(label) <= limit,
    hasAuthors: hasSeveralAuthors(rows),
    countsHidden: true,
    promptsOnly,
  })
  return text.split('\n')
}

const inTurn = (session: string, turn: number) => ({
  session,
  turn,
  sessionAgent: session === 's-2' ? 'codex' : 'claude',
  step: 1,
  hasState: true,
})

function prompt(reason: string, facts: Partial<CheckpointView> = {}): CheckpointView {
  const nothing = { files: 0, insertions: 0, deletions: 0, author: null }
  return checkpoint({
    ...inTurn('s-1', 1),
    ...nothing,
    reason: `You: ${reason}`,
    moment: 'before',
    ...facts,
  })
}

function call(reason: string, facts: Partial<CheckpointView> = {}): CheckpointView {
  const one = { files: 1, insertions: 1, deletions: 0, author: facts.sessionAgent ?? 'claude' }
  return checkpoint({ ...inTurn('s-1', 1), ...one, reason, moment: 'after', ...facts })
}

const HISTORY = [
  call('Bash: rm README.md', { ...inTurn('s-2', 1), author: 'codex', insertions: 0, deletions: 2 }),
  call("Bash: echo 'export const x = 1' >> src/user.ts", {
    ...inTurn('s-2', 1),
    author: 'codex+you',
  }),
  prompt('Add a shopping cart', inTurn('s-2', 1)),
  checkpoint({ reason: 'it works', name: 'works', pinned: true }),
  call('Bash: npm test -- --update && git diff --stat && echo done with all of it', { files: 12 }),
  call('Write src/auth.ts'),
  prompt('Now add tests', { files: 1, insertions: 2, author: 'you' }),
]

test('a list is grouped by prompt: prompts newest first, their calls below in the order in which they ran', () => {
  expect(table(HISTORY)).toEqual([
    '3  bcdf  ● You: Add a shopping cart                              codex · 2 h ago',
    "2  bcdf      Bash: echo 'export const x = 1' >> src/user.ts         codex+you +1",
    '1  bcdf      Bash: rm README.md                                               −2',
    '4  bcdf    [pinned] [works] it works              you 3 files +120 −45 · 2 h ago',
    '7  bcdf  ● You: Now add tests                          you +2 · claude · 2 h ago',
    '6  bcdf      Write src/auth.ts                                                +1',
    '5  bcdf      Bash: npm test -- --update && git diff --stat && echo…  12 files +1',
  ])
})

test('a list that is cut names the prompt and counts the earlier steps', () => {
  expect(table(HISTORY, { limit: 1 })).toEqual([
    '3  bcdf  ● You: Add a shopping cart                              codex · 2 h ago',
    '             … 1 earlier step',
    '1  bcdf      Bash: rm README.md                                               −2',
  ])
})

test('prompts alone show their number of steps', () => {
  expect(table(HISTORY, { promptsOnly: true })).toEqual([
    '3  bcdf  ● You: Add a shopping cart                    2 steps · codex · 2 h ago',
    '4  bcdf    [pinned] [works] it works              you 3 files +120 −45 · 2 h ago',
    '7  bcdf  ● You: Now add tests                you +2 · 2 steps · claude · 2 h ago',
  ])
})

test('rows between the calls of a prompt split it; another agent’s calls do not', () => {
  const none = { files: 0, insertions: 0, deletions: 0, author: null }
  const rows = [
    call('late'),
    checkpoint({ ...none, reason: 'rewind to "works" (bcdfghjk)', kind: 'rewind' }),
    call('theirs', inTurn('s-2', 1)),
    call('early'),
    prompt('Help', inTurn('s-2', 1)),
    prompt('Go'),
  ]
  expect(table(rows, { width: 60 })).toEqual([
    '         ● You: Go (continued)',
    '1  bcdf      late                                         +1',
    '2  bcdf    rewind to "works" (bcdfghjk)              2 h ago',
    '5  bcdf  ● You: Help                         codex · 2 h ago',
    '3  bcdf      theirs                                       +1',
    '6  bcdf  ● You: Go                          claude · 2 h ago',
    '4  bcdf      early                                        +1',
  ])
})

test('a single row has its session, its author and its age, as far as they fit', () => {
  expect(table([checkpoint({}), IN_SESSION, STATE_ALONE])).toEqual([
    '1  bcdf  the login works again, and the tests pass…   3 files +120 −45 · 2 h ago',
    '2  bzzz  the login works again, and the tests pass…   3 files +120 −45 · 2 h ago',
    '3  czzz  \\x1b[31mred                a-session-with-a-rather-long-…:120 · 2 h ago',
  ])
})

test('names and pins are never cut off, and ids of 18 letters in messages are shortened', () => {
  const rows = [
    checkpoint({ name: 'n'.repeat(100), pinned: true }),
    checkpoint({
      kind: 'safety',
      reason: 'before rewind to blmqmxvfjctkssxscw (works)',
      files: 0,
      insertions: 0,
      deletions: 0,
    }),
  ]
  const [first = '', second = ''] = table(rows, { width: 80 })
  expect(first).toContain(`[pinned] [${'n'.repeat(29)}…]`)
  expect(second).toMatch(/^2  bcdf  safety: before rewind to blmqmxvf \(works\) +2 h ago$/)
})

test('if only you have changed files, no author is named', () => {
  const rows = [checkpoint({ author: 'you' }), checkpoint({ author: 'rewind' })]
  expect(table(rows).join()).not.toMatch(/you|· rewind/)
})

test('no line of a table is wider than the terminal, however narrow', () => {
  for (const width of [40, 60, 80, 120]) {
    const tables = [
      ...table([checkpoint({}), IN_SESSION, STATE_ALONE], { width }),
      ...table(HISTORY, { width }),
      sessionsTable(SESSIONS, screenOf(width)),
    ]
    for (const line of tables.join('\n').split('\n'))
      expect({ width, line, fits: widthOf(line) <= width }).toEqual({ width, line, fits: true })
  }
})

test('sessions keep their id and status on a narrow terminal', () => {
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
