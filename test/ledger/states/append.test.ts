// Appending gives the same result as writing the whole state.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { tries } from '../../support/test-budget.js'
import type { StateId } from '../../../src/model/index.js'
import { type Database, openDatabase } from '../../../src/system/index.js'
import { STATE_TABLES, StateMemory, StateStore } from '../../../src/ledger/states/index.js'
import { stateDifference, strictCopy } from '../../support/strict-copy.js'

const folder = mkdtempSync(join(tmpdir(), 'savestate-append-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let count = 0
function open(): {
  readonly database: Database
  readonly store: StateStore
  readonly memory: StateMemory
} {
  count += 1
  const database = openDatabase(join(folder, `${count}.db`), { timeoutMs: 1000 })
  database.exec('PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY')
  database.exec(STATE_TABLES)
  return { database, store: new StateStore(database), memory: new StateMemory() }
}

const item = fc.oneof(
  fc.record({ role: fc.constantFrom('user', 'tool'), n: fc.nat(20), inner: fc.record({}) }),
  fc.integer({ min: 0, max: 50 }),
  fc.constantFrom(undefined, 'text', new Date(3), new Map([[1, { n: 2 }]])),
)
const step = fc.record({
  key: fc.constantFrom('messages', 'toolCalls', 'new'),
  items: fc.array(item, { maxLength: 40 }),
  memory: fc.constantFrom('same', 'same', 'same', 'new', 'other'),
  how: fc.constantFrom('append', 'append', 'append', 'write'),
})

test('any mixture of appends and writes gives the same as writing the whole', () => {
  const { store } = open()
  const other = new StateMemory()
  const run = (steps: readonly (typeof step extends fc.Arbitrary<infer Step> ? Step : never)[]) => {
    const memory = new StateMemory()
    const state: Record<string, unknown[]> = { messages: [{ first: true }] }
    let id: StateId = store.write(state, memory)
    for (const { key, items, how, ...chosen } of steps) {
      const list = state[key] ?? []
      state[key] = list
      // Constants of the generator would be shared; that is another test.
      const fresh = strictCopy(items)
      list.push(...fresh)
      const used = { same: memory, new: new StateMemory(), other }[chosen.memory]
      id =
        how === 'write' ? store.write(state, used) : store.append(id, { key, items: fresh }, used)
      expect(stateDifference(state, store.read(id))).toBe(undefined)
    }
    expect(store.write(state, memory)).toBe(store.write(state, memory))
  }
  expect(
    fc.check(fc.property(fc.array(step, { maxLength: 8 }), run), { numRuns: tries(300), seed: 1 }),
  ).toMatchObject({ failed: false, counterexample: null })
})

test('writing a state after appending to it returns the appended state', () => {
  const { store, memory } = open()
  const state = { messages: Array.from({ length: 200 }, (_, n) => ({ n })), step: 1 }
  const base = store.write(state, memory)
  const more = [{ n: 200 }, { n: 201 }]
  state.messages.push(...more)
  const id = store.append(base, { key: 'messages', items: more }, memory)
  expect(id).not.toBe(base)
  expect(store.write(state, memory)).toBe(id)
})

test('append creates a missing list, also in a new state', () => {
  const { store, memory } = open()
  const first = store.append(undefined, { key: 'messages', items: [1] }, memory)
  const second = store.append(first, { key: '__proto__', items: [] }, memory)
  expect(stateDifference(JSON.parse('{"messages":[1],"__proto__":[]}'), store.read(second))).toBe(
    undefined,
  )
  expect(store.append(second, { key: 'messages', items: [] }, memory)).toBe(second)
})

test('a path of keys leads to any list, whether it is stored by itself or not', () => {
  const { store, memory } = open()
  const large = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`key ${n}`, [n]]))
  const long = Array.from({ length: 20 }, (_, n) => n)
  const state = { inner: { long }, small: { list: [1] }, large }
  const base = store.write(state, memory)
  const paths = [
    ['inner', 'long'],
    ['small', 'list'],
    ['large', 'key 3'],
    ['inner', 'new'],
    ['small', 'new'],
  ]
  const ids = paths.map((key) => store.append(base, { key, items: ['more'] }, memory))
  expect(ids.map((id) => store.read(id))).toEqual([
    { ...state, inner: { long: [...long, 'more'] } },
    { ...state, small: { list: [1, 'more'] } },
    { ...state, large: { ...large, 'key 3': [3, 'more'] } },
    { ...state, inner: { long, new: ['more'] } },
    { ...state, small: { list: [1], new: ['more'] } },
  ])
  const list = store.write(['a'], memory)
  expect(store.read(store.append(list, { key: [], items: ['b'] }, memory))).toEqual(['a', 'b'])
})

test('a value that is not a list is rejected with its path', () => {
  const { store, memory } = open()
  const base = store.write({ text: 'a', object: { a: 1 }, map: new Map(), none: undefined }, memory)
  for (const key of ['text', 'object', 'map', 'none', ['absent', 'list'], ['map', 'list'], []]) {
    expect(() => store.append(base, { key, items: [1] }, memory)).toThrow(
      expect.objectContaining({
        code: 'BAD_INPUT',
        message: expect.stringMatching(/is not a list$/),
      }),
    )
  }
})

test('an unstorable item is rejected with its path in the state', () => {
  const { store, memory } = open()
  const base = store.write({ messages: [1, 2, 3] }, memory)
  const items = [{ tool: { run: () => 1 } }]
  expect(() => store.append(base, { key: 'messages', items }, memory)).toThrow(
    'Cannot store messages[3].tool.run: it is a function',
  )
})

test('an appended item is unaffected by a later one that shares an object with it', () => {
  const { store, memory } = open()
  const tool = { v: 1 }
  const message = { role: 'b', tool }
  let id = store.append(undefined, { key: 'messages', items: [{ role: 'a', tool }] }, memory)
  id = store.append(id, { key: 'messages', items: [message] }, memory)
  tool.v = 2
  id = store.append(id, { key: 'messages', items: [message] }, memory)
  expect(store.read(id)).toEqual({
    messages: [
      { role: 'a', tool: { v: 1 } },
      { role: 'b', tool: { v: 1 } },
      { role: 'b', tool: { v: 2 } },
    ],
  })
})

test('a process without a view of the state appends with few rows', () => {
  const { database, store, memory } = open()
  const base = store.write({ messages: Array.from({ length: 3000 }, (_, n) => ({ n })) }, memory)
  const rows = () =>
    Number(
      database.get(
        'SELECT (SELECT count(*) FROM nodes) + (SELECT count(*) FROM elements) AS count',
      )?.['count'],
    )
  const before = rows()
  let id: StateId = base
  for (let n = 0; n < 10; n += 1)
    id = store.append(id, { key: 'messages', items: [{ new: n }] }, new StateMemory())
  expect(rows() - before).toBeLessThanOrEqual(10 * 5)
  expect(Object(store.read(id)).messages).toHaveLength(3010)
})

test('a captured state is written as it was, and the next save still compares with the live objects', () => {
  const { database, store, memory } = open()
  const rows = () => database.get('SELECT count(*) AS n FROM elements')?.['n']
  const state = { messages: Array.from({ length: 100 }, (_, n) => ({ n, inner: [n] })), step: 0 }
  const first = store.write(state, memory)
  const before = strictCopy(state)
  const unchanged = store.capture(state, memory)
  state.messages[50]?.inner.push(1)
  const changed = store.capture(state, memory)
  const after = strictCopy(state)
  Object.assign(state.messages[51] ?? {}, { inner: 'later' })
  state.messages.reverse()
  expect(unchanged()).toBe(first)
  const second = changed()
  expect(rows()).toBe(101)
  expect([store.read(first), store.read(second)]).toEqual([before, after])
  const items = store.captureItems([state.messages[0]], { key: 'messages', memory })
  const item = strictCopy(state.messages[0])
  Object.assign(state.messages[0] ?? {}, { n: -1 })
  const appended = store.append(second, { key: 'messages', items }, memory)
  expect(store.read(appended)).toEqual({ ...after, messages: [...after.messages, item] })
  expect(store.read(store.write(state, memory))).toEqual(state)
  expect(store.read(store.capture(state, memory)())).toEqual(state)
})

test('a captured state is written completely after forget', () => {
  const { store, memory } = open()
  const state = { messages: [{ n: 1 }, new Map([[1, { n: 2 }]])], long: 'long '.repeat(30) }
  store.write(state, memory)
  const late = store.capture(state, memory)
  const before = strictCopy(state)
  memory.forget()
  Object.assign(state.messages[0] ?? {}, { n: 5 })
  expect(store.read(late())).toEqual(before)
})
