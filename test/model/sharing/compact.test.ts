// Compaction is pure; test/ledger/sharing/any-session.test.ts proves that a compacted log gives the same session.
import { expect, test } from 'vitest'
import {
  compactSegments,
  isWorthCompacting,
  mayBeWorthCompacting,
  type SegmentContent,
  type SharedRow,
} from '../../../src/model/index.js'

const SESSION: SharedRow = {
  agent: null,
  status: 'in_progress',
  status_reason: null,
  created_at: 1,
  updated_at: 1,
  head: null,
  next_step: 300,
  turn: 0,
  metadata: null,
  forked_from: null,
}

function checkpointId(step: number): string {
  return String(step)
    .padStart(18, '0')
    .replaceAll(/\d/g, (digit) => 'bcdfghjklm'.charAt(Number(digit)))
}

function checkpoint(step: number, state: number): SharedRow {
  const absent = Object.fromEntries(
    [
      'name reason tree pack files insertions deletions file_count size_bytes skipped_counts details authors',
      'named_by parent status_reason tool_call schema_version metadata operation_id',
    ]
      .join(' ')
      .split(' ')
      .map((column) => [column, null]),
  )
  const facts = { id: checkpointId(step), kind: 'save', created_at: 1, pinned: 0 }
  return { ...absent, ...facts, step, status: 'in_progress', turn: 0, state }
}

/** Each step brings one element, a node of it alone, and a state with both. */
function segment(step: number, change: Partial<SegmentContent> = {}): SegmentContent {
  const first = step * 10 + 1
  return {
    version: 1,
    isBase: step === 0,
    nextNumber: first + 10,
    elements: [[first, 0, JSON.stringify('text '.repeat(50) + String(step))]],
    nodes: [[first + 1, [first]]],
    states: [[first + 2, { list: ['list', 1, 0, first + 1], one: ['element', first] }]],
    rows: { session: [SESSION], checkpoints: [checkpoint(step, first + 2)] },
    removed: {},
    ...change,
  }
}

test('the base has the last version of each row, and only what these rows need, under the same numbers', () => {
  const removal = segment(3, {
    elements: [],
    nodes: [],
    states: [],
    rows: { session: [{ ...SESSION, turn: 7 }] },
    removed: { checkpoints: [{ id: checkpointId(1) }] },
  })
  const compacted = compactSegments([segment(0), segment(1), segment(2), removal], {
    kind: 'session',
  })
  expect(compacted).toEqual({
    version: 1,
    isBase: true,
    nextNumber: 41,
    elements: [...segment(0).elements, ...segment(2).elements],
    nodes: [...segment(0).nodes, ...segment(2).nodes],
    states: [...segment(0).states, ...segment(2).states],
    rows: {
      session: [{ ...SESSION, turn: 7 }],
      checkpoints: [checkpoint(0, 3), checkpoint(2, 23)],
    },
    removed: {},
  })
  // Once more it stays as it is.
  expect(compactSegments([compacted], { kind: 'session' })).toEqual(compacted)
})

test('a base in the middle replaces what was before it', () => {
  const base = segment(2, { isBase: true })
  expect(compactSegments([segment(0), segment(1), base], { kind: 'session' })).toEqual(base)
})

test('segments that do not fit together are refused', () => {
  const faulty = [
    [segment(0), segment(0, { isBase: false })],
    [segment(0, { nodes: [[2, [99]]] })],
    [segment(0), segment(1, { rows: { checkpoints: [checkpoint(1, 99)] } })],
  ]
  for (const contents of faulty)
    expect(() => compactSegments(contents, { kind: 'session' })).toThrow(
      expect.objectContaining({ code: 'BAD_INPUT' }),
    )
  expect(() => compactSegments([segment(0)], { kind: 'thread' })).toThrow(
    expect.objectContaining({ code: 'BAD_INPUT' }),
  )
})

test('only a long log that is mostly dead is worth it', () => {
  const steps = Array.from({ length: 250 }, (_, step) => segment(step))
  const remove = (count: number) =>
    segment(250, {
      elements: [],
      nodes: [],
      states: [],
      rows: {},
      removed: {
        checkpoints: steps.slice(0, count).map((_, step) => ({ id: checkpointId(step) })),
      },
    })
  const isWorth = (contents: readonly SegmentContent[]) =>
    isWorthCompacting(contents, compactSegments(contents, { kind: 'session' }))
  expect(isWorth([...steps, remove(240)])).toBe(true)
  expect(isWorth([...steps, remove(20)])).toBe(false)
  expect(isWorth([...steps.slice(0, 100), remove(90)])).toBe(false)
  // Nothing is left of it.
  expect(isWorth([...steps.slice(0, 100), remove(100)])).toBe(true)
})

test('the size of a log tells whether reading it can be worth it', () => {
  const session = (segments: number, checkpoints: number, steps: number) =>
    mayBeWorthCompacting({ kind: 'session', segments, checkpoints }, { steps })
  expect(session(201, 49, 100)).toBe(true)
  expect(session(201, 50, 100)).toBe(false)
  expect(session(200, 49, 100)).toBe(false)
  // Without any checkpoint left, or before the first one.
  expect([session(2, 0, 100), session(1, 0, 100), session(900, 0, 0)]).toEqual([true, false, false])
  const thread = (segments: number, steps: number) =>
    mayBeWorthCompacting({ kind: 'thread', segments, checkpoints: 0 }, { steps })
  expect([thread(201, 100), thread(201, 101), thread(9, 1), thread(9, 0)]).toEqual([
    true,
    false,
    false,
    true,
  ])
})

test('a log of very many segments is compacted', () => {
  const empty: SegmentContent = {
    version: 1,
    isBase: false,
    nextNumber: 1,
    elements: [],
    nodes: [],
    states: [],
    rows: {},
    removed: {},
  }
  const contents = Array.from({ length: 200_000 }, () => empty)
  expect(compactSegments(contents, { kind: 'session' })).toEqual({ ...empty, isBase: true })
})
