import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { CheckpointId } from '../../../src/model/ids.js'
import {
  hourGroup,
  promptGroup,
  thinByAge,
  type TierRow,
  type Tiers,
} from '../../../src/model/retention/tiers.js'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const TIERS: Tiers = {
  keepAllMs: 48 * HOUR_MS,
  keepPromptsMs: 30 * DAY_MS,
  keepDailyMs: 365 * DAY_MS,
}

function row(id: string, createdAtMs: number, rest: Partial<TierRow> = {}): TierRow {
  return {
    id: id as CheckpointId,
    createdAtMs,
    agedFromMs: createdAtMs,
    group: null,
    isPrompt: false,
    isSpecial: false,
    isGuarded: false,
    hasFiles: true,
    usedAtMs: null,
    ...rest,
  }
}

/** A prompt at hour 1 of day 0 with calls after it, and a second one. Newest first. */
const HISTORY: readonly TierRow[] = [
  row('b-call', 5 * HOUR_MS, { group: promptGroup(1, 2) }),
  row('b-prompt', 4 * HOUR_MS, { group: promptGroup(1, 2), isPrompt: true }),
  row('a-call-2', 3 * HOUR_MS, { group: promptGroup(1, 1) }),
  row('a-undo', 2.5 * HOUR_MS, { group: promptGroup(1, 1), isSpecial: true }),
  row('a-call-1', 2 * HOUR_MS, { group: promptGroup(1, 1) }),
  row('a-prompt', 1.5 * HOUR_MS, { group: promptGroup(1, 1), isPrompt: true }),
  row('a-owed', HOUR_MS, { group: promptGroup(1, 1) }),
]

const left = (rows: readonly TierRow[], nowMs: number) => {
  const gone = new Set(thinByAge(rows, TIERS, nowMs).map(({ id }) => id))
  return rows.filter(({ id }) => !gone.has(id)).map(({ id }) => id)
}

test('everything stays for 48 hours, then the prompts, the last of each day and what an undo needs, then one per day', () => {
  expect(left(HISTORY, 25 * HOUR_MS)).toEqual(HISTORY.map(({ id }) => id))
  expect(left(HISTORY, 3 * DAY_MS)).toEqual(['b-call', 'b-prompt', 'a-undo', 'a-prompt'])
  expect(left(HISTORY, 40 * DAY_MS)).toEqual(['b-call'])
  expect(left(HISTORY, 400 * DAY_MS)).toEqual([])
})

test('each reason is named', () => {
  const why = (nowMs: number) => new Set(thinByAge(HISTORY, TIERS, nowMs).map((it) => it.why))
  expect(why(3 * DAY_MS)).toEqual(new Set(['prompts']))
  expect(why(40 * DAY_MS)).toEqual(new Set(['days']))
  expect(why(400 * DAY_MS)).toEqual(new Set(['age']))
})

test('without a prompt row the oldest of a prompt stays, and the newest of an hour', () => {
  const last = row('last', 2 * HOUR_MS)
  const prompt = [2, 1].map((n) => row(`p${n}`, n, { group: promptGroup(1, 1) }))
  expect(left([last, ...prompt], 3 * DAY_MS)).toEqual(['last', 'p1'])
  const hour = [2, 1].map((n) => row(`h${n}`, n, { group: hourGroup(n) }))
  expect(left([last, ...hour], 3 * DAY_MS)).toEqual(['last', 'h2'])
})

test('a state does not replace the files of its prompt or day', () => {
  const group = promptGroup(1, 1)
  const rows = [
    row('state-2', 4, { group, hasFiles: false }),
    row('files-2', 3, { group }),
    row('files-1', 2, { group }),
    row('state-1', 1, { group, hasFiles: false }),
  ]
  expect(left(rows, 3 * DAY_MS)).toEqual(['state-2', 'files-2', 'files-1', 'state-1'])
  expect(left(rows, 40 * DAY_MS)).toEqual(['state-2', 'files-2'])
})

test('the edges: 48 hours, 30 days and 365 days to the millisecond', () => {
  const group = promptGroup(1, 1)
  const rows = [
    row('last', 2, { group }),
    row('call', 1, { group }),
    row('prompt', 0, { group, isPrompt: true }),
  ]
  expect(left(rows, 48 * HOUR_MS + 1)).toEqual(['last', 'call', 'prompt'])
  expect(left(rows, 48 * HOUR_MS + 2)).toEqual(['last', 'prompt'])
  expect(left(rows, 30 * DAY_MS)).toEqual(['last', 'prompt'])
  expect(left(rows, 30 * DAY_MS + 1)).toEqual(['last'])
  expect(left(rows, 365 * DAY_MS + 2)).toEqual(['last'])
  expect(left(rows, 365 * DAY_MS + 3)).toEqual([])
})

test('the newest of a project stays as long as the project is used', () => {
  const used = [row('head', 0, { usedAtMs: 100 * DAY_MS })]
  expect(left(used, 400 * DAY_MS)).toEqual(['head'])
  expect(left(used, 466 * DAY_MS)).toEqual([])
})

test('an imported checkpoint ages from its import', () => {
  expect(left([row('old', 0, { agedFromMs: 500 * DAY_MS })], 501 * DAY_MS)).toEqual(['old'])
})

const someRow = fc.record({
  createdAtMs: fc.integer({ min: 0, max: 500 * DAY_MS }),
  turn: fc.integer({ min: 0, max: 5 }),
  session: fc.integer({ min: 0, max: 3 }),
  isPrompt: fc.boolean(),
  isSpecial: fc.boolean(),
  isGuarded: fc.boolean(),
  hasFiles: fc.boolean(),
})

type SomeRow = typeof someRow extends fc.Arbitrary<infer Shape> ? Shape : never

const rowsOf = (shapes: readonly SomeRow[]): TierRow[] =>
  [...shapes]
    .sort((a, b) => b.createdAtMs - a.createdAtMs)
    .map(({ createdAtMs, turn, session, ...flags }, n) =>
      row(`r${n}`, createdAtMs, {
        ...flags,
        group:
          turn === 0 ? (session === 0 ? null : hourGroup(createdAtMs)) : promptGroup(session, turn),
        ...(n === 0 ? { usedAtMs: createdAtMs } : {}),
      }),
    )

const history = fc.array(someRow, { maxLength: 60 }).map(rowsOf)
const moment = fc.integer({ min: 0, max: 900 * DAY_MS })

test('guarded and young checkpoints always stay; a day keeps one within the year, and one with files if it had any', () => {
  fc.assert(
    fc.property(history, moment, (rows, nowMs) => {
      const kept = new Set(left(rows, nowMs))
      const mustStay = rows.filter(
        ({ isGuarded, agedFromMs }) => isGuarded || nowMs - agedFromMs <= TIERS.keepAllMs,
      )
      for (const { id } of mustStay) expect(kept.has(id)).toBe(true)
      const dayOf = (at: TierRow) => Math.floor(at.createdAtMs / DAY_MS)
      const isWithin = (at: TierRow) => nowMs - at.agedFromMs <= TIERS.keepDailyMs
      const daysKept = new Set(rows.filter(({ id }) => kept.has(id)).map(dayOf))
      for (const at of rows.filter(isWithin)) expect(daysKept.has(dayOf(at))).toBe(true)
      const filesKept = new Set(
        rows.filter(({ id, hasFiles }) => hasFiles && kept.has(id)).map(dayOf),
      )
      for (const at of rows.filter((it) => it.hasFiles && isWithin(it)))
        expect(filesKept.has(dayOf(at))).toBe(true)
    }),
  )
})

test('thinning twice at the same time removes nothing more, and thinning in between does not change the result', () => {
  fc.assert(
    fc.property(history, moment, moment, (rows, one, two) => {
      const [early, late] = [Math.min(one, two), Math.max(one, two)]
      const after = (from: readonly TierRow[], nowMs: number) => {
        const ids = new Set(left(from, nowMs))
        return from.filter(({ id }) => ids.has(id))
      }
      const atEarly = after(rows, early)
      expect(after(atEarly, early)).toEqual(atEarly)
      expect(after(atEarly, late)).toEqual(after(rows, late))
    }),
  )
})
