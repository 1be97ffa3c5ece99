// The pure parts of the timeline: groups, filters, lines and positions.
import { describe, expect, test } from 'vitest'
import type { Row } from '../../../src/ui/api.js'
import { daysOf, dayText, stripMarks } from '../../../ui/views/timeline/days.js'
import { filterGroups, filterQuery, parseFilter } from '../../../ui/views/timeline/filters.js'
import { type Group, groupRows } from '../../../ui/views/timeline/groups.js'
import {
  type Folds,
  layOut,
  type Line,
  lineAt,
  linesOf,
  nextFold,
  NARROW,
  WIDE,
} from '../../../ui/views/timeline/lines.js'
import { callWords, durationText, marksOf, singleWords } from '../../../ui/views/timeline/words.js'

const PLAIN: Row = {
  id: '',
  name: null,
  reason: null,
  createdAt: '2026-11-18T12:00:00.000Z',
  session: null,
  sessionAgent: null,
  turn: null,
  step: null,
  status: null,
  files: 1,
  insertions: 2,
  deletions: 1,
  skipped: 0,
  skippedByReason: {},
  hasState: false,
  hasFiles: true,
  pinned: false,
  kind: 'save',
  moment: null,
  author: 'you',
}

let minute = 0
/** Each row is a minute newer than the one before. */
function row(id: string, fields: Partial<Row> = {}): Row {
  minute += 1
  const createdAt = new Date(2026, 10, 18, 9, minute).toISOString()
  return { ...PLAIN, id, createdAt, ...fields }
}
const inSession = (turn: number, session = 's1'): Partial<Row> => ({
  session,
  turn,
  sessionAgent: 'claude',
  status: 'in_progress',
})
const prompt = (id: string, turn: number, session?: string): Row =>
  row(id, {
    ...inSession(turn, session),
    reason: `You: ${id}`,
    moment: 'before',
    files: 0,
    author: null,
  })
const step = (id: string, turn: number, fields: Partial<Row> = {}): Row =>
  row(id, {
    ...inSession(turn),
    reason: `Edit ${id}`,
    moment: 'after',
    author: 'claude',
    ...fields,
  })
const newestFirst = (...rows: readonly Row[]) => rows.toReversed()

/** Groups as nested ids. */
const shape = (groups: readonly Group[]) =>
  groups.map((group) =>
    group.type === 'single'
      ? group.row.id
      : {
          [group.session]: group.items.map((item) =>
            item.type === 'loose'
              ? item.row.id
              : [
                  `${item.prompt.id}${item.isContinued ? ' again' : ''}`,
                  ...item.steps.map(({ id }) => id),
                ],
          ),
        },
  )
const keys = (lines: readonly Line[]) => lines.map(({ type, key }) => `${type} ${key}`)
const linesFor = (rows: readonly Row[], folds: Folds = new Map()) => linesOf(groupRows(rows), folds)

describe('groups', () => {
  test('a prompt holds the calls of its turn, and a session the turns that follow each other', () => {
    const rows = newestFirst(
      row('saved'),
      prompt('p1', 1),
      step('a', 1),
      step('b', 1),
      prompt('p2', 2),
      step('c', 2),
      row('rewind', { kind: 'rewind' }),
      prompt('p3', 3),
    )
    expect(shape(groupRows(rows))).toEqual([
      { s1: [['p3']] },
      'rewind',
      {
        s1: [
          ['p2', 'c'],
          ['p1', 'a', 'b'],
        ],
      },
      'saved',
    ])
  })

  test('steps after a rewind repeat their prompt', () => {
    const rows = newestFirst(
      prompt('p', 1),
      step('a', 1),
      row('r', { kind: 'rewind' }),
      step('b', 1),
    )
    expect(shape(groupRows(rows))).toEqual([{ s1: [['p again', 'b']] }, 'r', { s1: [['p', 'a']] }])
  })

  test('two agents that work at once keep their turns together', () => {
    const rows = newestFirst(
      prompt('p', 1),
      prompt('q', 1, 's2'),
      step('a', 1),
      step('x', 1, { session: 's2' }),
      step('b', 1),
    )
    expect(shape(groupRows(rows))).toEqual([{ s2: [['q', 'x']] }, { s1: [['p', 'a', 'b']] }])
  })

  test('a row before a call that changed nothing is left out, unless it has a name or changes', () => {
    const before = (id: string, fields: Partial<Row>) =>
      step(id, 1, { reason: `Before Edit ${id}`, moment: 'before', ...fields })
    const rows = newestFirst(
      prompt('p', 1),
      before('noise', { files: 0 }),
      before('named', { files: 0, name: 'x' }),
      before('mine', { files: 1 }),
    )
    expect(shape(groupRows(rows))).toEqual([{ s1: [['p', 'named', 'mine']] }])
  })

  test('rows of a session without prompts are its items', () => {
    const rows = newestFirst(step('a', 0, { moment: null }), step('b', 0, { moment: null }))
    expect(shape(groupRows(rows))).toEqual([{ s1: ['b', 'a'] }])
  })

  test('a turn sums up its steps', () => {
    const rows = newestFirst(
      prompt('p', 1),
      step('a', 1, { files: 2, insertions: 10, deletions: 3 }),
      step('b', 1, { author: 'claude+you' }),
    )
    expect(groupRows(rows)).toMatchObject([
      {
        items: [
          {
            summary: {
              authors: ['claude', 'you'],
              steps: 2,
              sum: { files: 3, insertions: 12, deletions: 4, isLimit: true },
              durationMs: 120_000,
            },
          },
        ],
      },
    ])
  })
})

describe('filters', () => {
  const rows = newestFirst(
    row('saved'),
    prompt('p1', 1),
    step('a', 1),
    step('mine', 1, { author: 'you' }),
    step('none', 1, { files: 0, author: null }),
    prompt('p2', 2),
    row('rewind', { kind: 'rewind', author: 'rewind' }),
    prompt('q', 1, 's2'),
  )
  const shown = (query: string) =>
    shape(filterGroups(groupRows(rows), parseFilter(new URLSearchParams(query))))

  test('without a filter everything is shown', () => {
    expect(shown('')).toEqual([
      { s2: [['q']] },
      'rewind',
      { s1: [['p2'], ['p1', 'a', 'mine', 'none']] },
      'saved',
    ])
  })

  test.each([
    ['session=s2', [{ s2: [['q']] }]],
    ['author=you', [{ s1: [['p1', 'mine']] }, 'saved']],
    ['show=prompts,unchanged', [{ s2: [['q']] }, { s1: [['p2'], ['p1']] }]],
    ['show=calls', [{ s1: ['mine', 'a'] }]],
    ['show=saves,unchanged', ['saved']],
    ['show=rewinds', ['rewind']],
    ['show=prompts,calls,saves,rewinds', ['rewind', { s1: [['p1', 'a', 'mine']] }, 'saved']],
    ['show=none', []],
  ])('%s', (query, expected) => {
    expect(shown(query)).toEqual(expected)
  })

  test('the address holds the filter', () => {
    const filter = parseFilter(new URLSearchParams('session=s&author=you&show=prompts,calls'))
    expect(filterQuery(filter)).toEqual({ session: 's', author: 'you', show: 'prompts,calls' })
    expect(filterQuery(parseFilter(new URLSearchParams()))).toEqual({
      session: '',
      author: '',
      show: '',
    })
    expect(filterQuery({ session: '', author: '', show: new Set() }).show).toBe('none')
  })
})

describe('lines', () => {
  const many = newestFirst(
    prompt('p', 1),
    ...['a', 'b', 'c', 'd', 'e', 'f'].map((id) => step(id, 1)),
  )

  test('a long turn shows its last four steps, and all when it is unfolded', () => {
    const folded = linesFor(many)
    expect(keys(folded)).toEqual([
      'day d:2026-11-18',
      'session s:p',
      'card t:p',
      'more m:p',
      'step c',
      'step d',
      'step e',
      'step f',
    ])
    expect(folded[3]).toMatchObject({ hidden: 2, level: 3, position: 1, setSize: 5 })
    expect(folded.at(-1)).toMatchObject({ isLast: true, position: 5, setSize: 5 })
    expect(keys(linesFor(many, new Map([['p', 'open']]))).slice(3)).toEqual(
      ['a', 'b', 'c', 'd', 'e', 'f'].map((id) => `step ${id}`),
    )
    expect(keys(linesFor(many, new Map([['p', 'closed']])))).toHaveLength(3)
    expect(keys(linesFor(many, new Map([['s:p', 'closed']])))).toHaveLength(2)
  })

  test('each row says where it is in the tree', () => {
    const lines = linesFor(newestFirst(row('saved'), prompt('p', 1), prompt('p2', 2)))
    const places = lines.flatMap((line) =>
      line.type === 'day' ? [] : [[line.key, line.level, line.position, line.setSize]],
    )
    expect(places).toEqual([
      ['s:p', 1, 1, 2],
      ['t:p2', 2, 1, 2],
      ['t:p', 2, 2, 2],
      ['saved', 1, 2, 2],
    ])
  })

  test('unfolding goes from closed to the last steps to all, folding closes', () => {
    const card = (folds: Folds) => linesFor(many, folds).find(({ type }) => type === 'card')
    const after = (folds: Folds, to: 'open' | 'closed') => {
      const line = card(folds)
      return line === undefined ? 'no card' : nextFold(line, to)
    }
    expect(after(new Map([['p', 'closed']]), 'open')).toEqual(['p', undefined])
    expect(after(new Map(), 'open')).toEqual(['p', 'open'])
    expect(after(new Map(), 'closed')).toEqual(['p', 'closed'])
    expect(after(new Map([['p', 'closed']]), 'closed')).toBeUndefined()
  })

  test('positions are sums of two heights, and each point belongs to one line', () => {
    const lines = linesFor(many)
    const layout = layOut(lines, WIDE)
    expect([...layout.tops]).toEqual([0, 28, 56, 108, 136, 164, 192, 220, 248])
    expect(layout.height).toBe(248)
    expect([-5, 0, 27, 28, 107, 108, 247, 9999].map((y) => lineAt(layout, y))).toEqual([
      0, 0, 0, 1, 2, 3, 7, 7,
    ])
    expect(layOut(lines, NARROW).height).toBe(28 * 3 + NARROW.card + 4 * NARROW.step)
    expect(lineAt(layOut([], WIDE), 100)).toBe(0)
  })

  test('a new day starts with its own line', () => {
    const day = (date: number) => ({ createdAt: new Date(2026, 10, date, 12).toISOString() })
    const rows = newestFirst(row('a', day(16)), row('b', day(17)), row('c', day(17)))
    const lines = linesFor(rows)
    expect(keys(lines)).toEqual([
      'day d:2026-11-17',
      'single c',
      'single b',
      'day d:2026-11-16',
      'single a',
    ])
    expect(daysOf(lines, layOut(lines, WIDE))).toEqual([
      { day: '2026-11-17', top: 0, bottom: 84 },
      { day: '2026-11-16', top: 84, bottom: 140 },
    ])
  })

  test('the strip marks named, failed and the current checkpoint', () => {
    const rows = newestFirst(
      row('a', { name: 'release' }),
      row('b', { status: 'failed: no tests' }),
      row('c'),
    )
    const lines = linesFor(rows)
    const kinds = stripMarks(lines, layOut(lines, WIDE), 'c').map(({ kind }) => kind)
    expect(kinds).toEqual(['here', 'failed', 'named'])
  })
})

describe('words', () => {
  test.each([
    [{ reason: 'Bash: npm test' }, { tool: 'Bash', what: 'npm test' }],
    [{ reason: 'Edit src/a.ts' }, { tool: 'Edit', what: 'src/a.ts' }],
    [{ reason: 'Before Edit src/a.ts' }, { tool: 'Before Edit', what: 'src/a.ts' }],
    [{ reason: 'End of the turn' }, { tool: 'End of the turn', what: '' }],
    [{ reason: 'Task' }, { tool: 'Task', what: '' }],
    [{ reason: null }, { tool: 'Saved', what: '' }],
  ])('of the call %j', (fields, words) => {
    expect(callWords({ ...PLAIN, ...fields })).toEqual(words)
  })

  test.each<[Partial<Row>, object]>([
    [
      { kind: 'rewind', reason: 'rewind to before "Fix login" (bcdfghjk)' },
      { kind: 'Rewind', what: 'to before "Fix login"' },
    ],
    [
      { kind: 'undo', reason: 'undo of rewind to "x" (bcdfghjk)' },
      { kind: 'Undo', what: 'of rewind to "x"' },
    ],
    [
      { kind: 'safety', reason: 'before rewind to "x" (bcdfghjk)' },
      { kind: 'Safety copy', what: 'before rewind to "x"' },
    ],
    [{ reason: 'Half way' }, { kind: 'Saved by you', what: 'Half way' }],
    [
      { reason: null, author: 'make' },
      { kind: 'Saved by make', what: '' },
    ],
  ])('of the row %j', (fields, words) => {
    expect(singleWords({ ...PLAIN, ...fields })).toEqual(words)
  })

  test('marks are words, and what every checkpoint leaves out is none', () => {
    const words = (fields: Partial<Row>) => marksOf({ ...PLAIN, ...fields }).map(({ word }) => word)
    expect(words({})).toEqual([])
    expect(words({ skipped: 3, skippedByReason: { ignored: 3 } })).toEqual([])
    expect(words({ skipped: 1, skippedByReason: { unstable: 1 } })).toEqual(['partly saved'])
    expect(words({ skipped: 1, skippedByReason: { 'too-large': 1 } })).toEqual([])
    expect(words({ name: 'release', pinned: true, damaged: true, filesPruned: true })).toEqual([
      'damaged',
      'files pruned',
      'pinned',
      'release',
    ])
    const call = (reason: string) => words({ ...inSession(1), moment: 'after', reason })
    expect(call('Bash: rm -rf build')).toEqual(['destructive'])
    expect(call('Bash: git reset --hard HEAD~1')).toEqual(['destructive'])
    expect(call('Bash: npm run format')).toEqual([])
    expect(words({ ...inSession(1), status: 'failed: no tests' })).toEqual(['failed'])
    expect(words({ ...inSession(1), failed: true, tests: 'failed' })).toEqual(['tests failed'])
    expect(words({ ...inSession(1), tests: 'passed' })).toEqual(['tests passed'])
  })

  test('days and durations', () => {
    const now = new Date(2026, 10, 18, 15)
    expect(dayText('2026-11-18', now)).toBe('Today')
    expect(dayText('2026-11-17', now)).toBe('Yesterday')
    expect(dayText('2026-11-02', now)).toBe('Mon, Nov 2')
    expect(dayText('2025-12-31', now)).toBe('Dec 31, 2025')
    expect([400, 12_000, 240_000, 7_200_000, 7_500_000].map(durationText)).toEqual([
      '0 s',
      '12 s',
      '4 min',
      '2 h',
      '2 h 5 min',
    ])
  })
})
