// What is appended is as if it had been in the state when that was written.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { tries } from '../../../test/effort.js'
import type { StateId } from '../../model/index.js'
import { type Database, openDatabase } from '../../system/index.js'
import { STATE_TABLES, StateMemory, StateStore } from './index.js'
import { difference, differenceInContent, strictCopy } from './strict-copy.js'

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
      expect(difference(state, store.read(id))).toBe(undefined)
    }
    expect(store.write(state, memory)).toBe(store.write(state, memory))
  }
  expect(
    fc.check(fc.property(fc.array(step, { maxLength: 8 }), run), { numRuns: tries(300), seed: 1 }),
  ).toMatchObject({ failed: false, counterexample: null })
})

test('a state to which was appended is the one that is written next', () => {
  const { store, memory } = open()
  const state = { messages: Array.from({ length: 200 }, (_, n) => ({ n })), step: 1 }
  const base = store.write(state, memory)
  const more = [{ n: 200 }, { n: 201 }]
  state.messages.push(...more)
  const id = store.append(base, { key: 'messages', items: more }, memory)
  expect(id).not.toBe(base)
  expect(store.write(state, memory)).toBe(id)
})

test('a list is made where there is none, also in a new state', () => {
  const { store, memory } = open()
  const first = store.append(undefined, { key: 'messages', items: [1] }, memory)
  const second = store.append(first, { key: '__proto__', items: [] }, memory)
  expect(difference(JSON.parse('{"messages":[1],"__proto__":[]}'), store.read(second))).toBe(
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

test('what is no list is refused by its path', () => {
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

test('what cannot be stored is refused with its path in the state', () => {
  const { store, memory } = open()
  const base = store.write({ messages: [1, 2, 3] }, memory)
  const items = [{ tool: { run: () => 1 } }]
  expect(() => store.append(base, { key: 'messages', items }, memory)).toThrow(
    'Cannot store messages[3].tool.run: it is a function',
  )
})

test('objects that the items share with the state, or among themselves, are shared again', () => {
  const { store, memory } = open()
  const call = { id: 1 }
  const inner = { n: 1 }
  const state: Record<string, unknown[]> = {
    toolCalls: [call],
    messages: [{ inner }, new Map([['inner', { n: 2 }]])],
  }
  const base = store.write(state, memory)
  const shared = { both: true }
  const items = [{ call, inner, shared }, shared, state, state['messages'], call]
  state['messages']?.push(...items)
  const id = store.append(base, { key: 'messages', items }, memory)
  expect(difference(state, store.read(id))).toBe(undefined)
  expect(store.write(state, memory)).toBe(id)
})

test('an element that was changed since it was written is not referred to', () => {
  const { store, memory } = open()
  const call = { id: 1, result: '' }
  const map = new Map([['a', { n: 1 }]])
  const base = store.write({ calls: [call], maps: [map] }, memory)
  call.result = 'late'
  const inner = map.get('a')
  map.set('b', { n: 2 })
  const id = store.append(base, { key: 'messages', items: [{ call, inner }] }, memory)
  expect(store.read(id)).toEqual({
    calls: [{ id: 1, result: '' }],
    maps: [new Map([['a', { n: 1 }]])],
    messages: [{ call: { id: 1, result: 'late' }, inner: { n: 1 } }],
  })
  const state = { calls: [call], maps: [map], messages: [{ call, inner }] }
  expect(difference(state, store.read(store.write(state, memory)))).toBe(undefined)
})

test('a list, an object and a state that were changed since are stored as the item holds them', () => {
  const { store, memory } = open()
  const log = [{ i: 0 }]
  const facts = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`fact ${n}`, { n }]))
  const same = [{ same: true }]
  const state = { log, facts, same, n: 1, long: 'long '.repeat(30), messages: [] }
  const before = strictCopy(state)
  const base = store.write(state, memory)
  log.push({ i: 99 })
  facts['fact 40'] = { n: 40 }
  state.n = 2
  state.long = 'short'
  const items = [{ log, facts, same, deep: { state } }]
  const expected = strictCopy(items)
  const read = store.read(store.append(base, { key: 'messages', items }, memory))
  expect(Object(read).messages[0].same).toBe(Object(read).same)
  // The list that grows is one: it holds the item.
  Object(read).messages[0].deep.state.messages = []
  expect(differenceInContent(expected, Object(read).messages)).toBe(undefined)
  expect(differenceInContent(before, { ...Object(read), messages: [] })).toBe(undefined)
  expect(difference(state, store.read(store.write(state, memory)))).toBe(undefined)
})

test('an element that is as it was but leads to one that was changed is stored again', () => {
  const { store, memory } = open()
  const tool = { v: 1 }
  const message = { role: 'b', tool }
  const map = new Map([['message', message]])
  const around = { list: [map] }
  const state: { list: unknown[]; messages: unknown[] } = { list: [], messages: [] }
  state.list.push({ role: 'a', tool }, message, map, around)
  let id = store.write(state, memory)
  const last = () => Object(store.read(id)).messages.at(-1)
  for (const item of [message, map, around, { list: state.list }, message]) {
    tool.v += 1
    id = store.append(id, { key: 'messages', items: [item] }, memory)
    state.messages.push(item)
    expect(differenceInContent(item, last())).toBe(undefined)
  }
  const written = [1, 2, 3, 4, 5, 6].map((v) => ({ role: 'b', tool: { v } }))
  expect(Object(store.read(id)).list[1]).toEqual(written[0])
  expect(Object(store.read(id)).messages[0]).toEqual(written[1])
  expect(difference(state, store.read(store.write(state, memory)))).toBe(undefined)
})

test('appended items keep what they had when another refers to what was changed since', () => {
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

test('a list that is the same under two keys grows under both', () => {
  const { store, memory } = open()
  const list = [1]
  const base = store.write({ one: list, two: list }, memory)
  for (const key of ['one', 'two']) {
    const same = [1, 2]
    const id = store.append(base, { key, items: [2] }, memory)
    expect(difference({ one: same, two: same }, store.read(id))).toBe(undefined)
  }
})

test('a process that knows nothing of a state appends with few rows', () => {
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
