// Applying the changes between two stored states to the first gives the second, including the order of keys.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { tries } from '../../support/test-budget.js'
import { ChangingState, type StateChange, type StateId } from '../../../src/model/index.js'
import { openDatabase } from '../../../src/system/index.js'
import { KEY_TABLES, SealingKey, StoreVault } from '../../../src/ledger/encryption/index.js'
import { STATE_TABLES, StateMemory, StateStore } from '../../../src/ledger/states/index.js'
import { stateDifference, strictCopy } from '../../support/strict-copy.js'

const root = mkdtempSync(join(tmpdir(), 'savestate-changes-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

let count = 0
function openStates(key?: SealingKey): { store: StateStore; write: (state: unknown) => StateId } {
  count += 1
  const database = openDatabase(join(root, `${count}.db`), { timeoutMs: 1000 })
  database.exec('PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY')
  database.exec(STATE_TABLES + KEY_TABLES)
  const vault = new StoreVault(database, key === undefined ? {} : { key })
  const store = new StateStore(database, { vault })
  const memory = new StateMemory()
  return { store, write: (state) => database.transaction(() => store.write(state, memory)) }
}

const leaves = fc.oneof(
  fc.integer({ max: 5 }),
  fc.constantFrom(null, undefined, -0, 10n, 'text', 'long '.repeat(30)),
  fc.date(),
  fc.dictionary(fc.constantFrom('a', '$', '__proto__', '7'), fc.integer()),
)
const lists = fc.oneof(fc.array(leaves, { maxLength: 4 }), fc.array(leaves, { minLength: 30 }))
const long = (from: number, most: number) =>
  fc
    .integer({ min: from, max: most })
    .map((n) => Object.fromEntries(Array.from({ length: n }, (_, at) => [`key ${at}`, at % 3])))
/** One state for each kind of part in src/ledger/states/layout.ts. */
const values = fc.oneof(leaves, lists, fc.record({ list: lists, n: leaves }), long(31, 40))
const KEYS = ['messages', 'step', '__proto__', '12', 'a']
const entries = fc.uniqueArray(fc.tuple(fc.constantFrom(...KEYS), values), {
  selector: ([key]) => key,
})
const states = fc.oneof(
  { weight: 6, arbitrary: entries.map((pairs) => Object.fromEntries(pairs)) },
  { weight: 2, arbitrary: lists },
  { weight: 1, arbitrary: fc.oneof(leaves, long(250, 260)) },
)

/** Longer, shorter, changed at one index, or different. */
type Edit = { readonly kind: number; readonly at: number; readonly value: unknown }
const edits = fc.record({ kind: fc.nat(4), at: fc.nat(300), value: values })

function edit(state: unknown, { kind, at, value }: Edit): unknown {
  const copy = strictCopy(state)
  if (typeof copy !== 'object' || copy === null || copy instanceof Date) return value
  const keys = Object.keys(copy)
  const inner: unknown = Reflect.get(copy, keys[at % Math.max(keys.length, 1)] ?? '')
  const list = Array.isArray(copy) ? copy : Array.isArray(inner) ? inner : undefined
  if (kind === 0 && list !== undefined) list.push(value, at)
  else if (kind === 1 && list !== undefined) list.length = at % (list.length + 1)
  else if (kind === 2 && list !== undefined && list.length > 0) list[at % list.length] = value
  else if (kind === 3 && !Array.isArray(copy))
    Reflect.deleteProperty(copy, keys[at % Math.max(keys.length, 1)] ?? '')
  else if (!Array.isArray(copy)) Reflect.set(copy, `key ${at}`, value)
  return copy
}

test.each([
  ['plain', undefined, tries(300, 60)],
  ['encrypted', new SealingKey(Buffer.alloc(32, 7)), tries(60, 15)],
])('the changes between two %s states make the one of the other', (_, key, numRuns) => {
  let compared = 0
  fc.assert(
    fc.property(states, fc.array(edits, { minLength: 1, maxLength: 6 }), (first, changes) => {
      const { store, write } = openStates(key)
      const written: { id: StateId; state: unknown }[] = [{ id: write(first), state: first }]
      for (const change of changes) {
        const state = edit(written.at(-1)?.state, change)
        written.push({ id: write(state), state })
      }
      for (const from of written)
        for (const to of written) {
          const found = store.changes(from.id, to.id)
          if (found === undefined) continue
          compared += found.length
          const given = strictCopy(from.state)
          const made = new ChangingState()
          made.replace(given)
          for (const one of found) made.apply(one)
          expect([found, stateDifference(to.state, made.value)]).toEqual([found, undefined])
          expect(stateDifference(given, from.state)).toBe(undefined)
        }
    }),
    { numRuns, seed: 1 },
  )
  expect(compared).toBeGreaterThan(numRuns)
})

test('changes contain only the difference', () => {
  const { store, write } = openStates()
  const messages = Array.from({ length: 500 }, (_, n) => ({ n, text: `message ${n}` }))
  const state = { step: 1, status: 'begun', messages }
  const steps = [
    state,
    { ...state, step: 2, messages: [...messages, { n: 500 }] },
    { step: 2, messages: [...messages.slice(0, 499), { n: 'last' }] },
    { messages, step: 3 },
    [messages],
  ]
  const ids = steps.map(write)
  const between = ids.slice(1).map((id, at) => store.changes(ids[at] ?? id, id))
  const expected: (StateChange[] | undefined)[] = [
    [
      { path: ['step'], set: 2 },
      { path: ['messages'], append: [{ n: 500 }] },
    ],
    [
      { path: ['status'], remove: true },
      { path: ['messages'], keep: 499, append: [{ n: 'last' }] },
    ],
    // Keys in another order, or another kind of state, must be read as a whole.
    undefined,
    undefined,
  ]
  expect(between).toEqual(expected)
})

test('an object in two parts of a state is a change in each of them', () => {
  const { store, write } = openStates()
  const message = { n: 1 }
  const before = write({ messages: [message] })
  const after = write({ messages: [message, { n: 2 }], last: message })
  expect(store.changes(before, after)).toEqual([
    { path: ['messages'], append: [{ n: 2 }] },
    { path: ['last'], set: { n: 1 } },
  ])
})

test('a change that does not fit is rejected, and cannot reach outside of the state', () => {
  const misfits: readonly (readonly [state: unknown, change: StateChange])[] = [
    [{}, { path: ['a'], append: [1] }],
    [{ a: 1 }, { path: ['a'], append: [1] }],
    [{ a: [1] }, { path: ['a'], keep: 2, append: [] }],
    [{ a: [1] }, { path: ['a', '0'], set: 1 }],
    [{}, { path: ['__proto__', 'polluted'], set: 1 }],
    [{}, { path: ['constructor', 'prototype', 'polluted'], set: 1 }],
    [{ a: new Map() }, { path: ['a', 'b'], set: 1 }],
    [{}, { path: [], set: 1 }],
    [null, { path: ['a'], remove: true }],
  ]
  for (const [state, change] of misfits) {
    const made = new ChangingState()
    made.replace(state)
    expect(() => made.apply(change)).toThrow('does not fit the state before it')
  }
  expect(() => new ChangingState().apply({ path: [], append: [] })).toThrow('there is no state')
})
