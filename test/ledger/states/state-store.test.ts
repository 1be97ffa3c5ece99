import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { ClassRegistry, parseStateId } from '../../../src/model/index.js'
import { type Database, openDatabase } from '../../../src/system/index.js'
import {
  type GivenKeys,
  KEY_TABLES,
  SealingKey,
  StoreVault,
} from '../../../src/ledger/encryption/index.js'
import { STATE_TABLES, StateMemory, StateStore } from '../../../src/ledger/states/index.js'
import { Box, difference } from '../../support/strict-copy.js'

const folder = mkdtempSync(join(tmpdir(), 'savestate-store-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const classes = new ClassRegistry()
classes.register('Box', {
  type: Box,
  toValue: ({ content }) => content,
  fromValue: (value) => new Box(value),
})

let count = 0
function open(keys: GivenKeys = {}): {
  readonly database: Database
  readonly store: StateStore
  readonly memory: StateMemory
} {
  count += 1
  const database = openDatabase(join(folder, `${count}.db`), { timeoutMs: 1000 })
  database.exec('PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY')
  database.exec(STATE_TABLES + KEY_TABLES)
  const vault = new StoreVault(database, keys)
  const store = new StateStore(database, { classes, vault })
  return { database, store, memory: new StateMemory() }
}

function counts(database: Database): unknown {
  return database.get(
    `SELECT (SELECT count(*) FROM elements) AS elements, (SELECT count(*) FROM nodes) AS nodes,
       (SELECT count(*) FROM states) AS states`,
  )
}

const numbered = (length: number) => Array.from({ length }, (_, n) => ({ n, inner: { n } }))
const keyed = (length: number) =>
  Object.fromEntries(Array.from({ length }, (_, n) => [`key ${n}`, { n }]))

const encrypted = { key: new SealingKey(Buffer.alloc(32, 7)) }
const KINDS = [
  ['plain', {}],
  ['encrypted', encrypted],
] as const

test.each(KINDS)('a state of any kind and shape is read back exactly, %s', (_, keys) => {
  const { store, memory } = open(keys)
  const states: unknown[] = [
    undefined,
    null,
    -0,
    10n,
    '\ud800',
    'long '.repeat(100),
    [],
    [undefined, null, Number.NaN],
    Object.assign([1], { length: 3 }),
    {},
    Object.assign(Object.create(null), { messages: [1] }),
    new Map([['messages', [1]]]),
    new Box({ n: 1 }),
    JSON.parse('{"b":1,"a":[],"7":2,"3":3,"__proto__":{"x":[1]},"":"","$":["NaN"]}'),
    { nested: { list: numbered(40), __proto__: null }, facts: keyed(200), box: new Box([1]) },
    { facts: JSON.parse(`{"__proto__":1,"9":2,${JSON.stringify(keyed(40)).slice(1)}`) },
    keyed(300),
    { big: numbered(3000), huge: ['x'.repeat(200_000), { text: 'é'.repeat(70_000) }, new Date(1)] },
  ]
  for (const state of states) {
    const id = store.write(state, memory)
    expect(difference(state, store.read(id))).toBe(undefined)
  }
})

test.each(KINDS)('a long list keeps every character, ASCII or not, %s', (_, keys) => {
  const { store, memory } = open(keys)
  const texts = [
    'plain',
    'caf\u00e9',
    '\u732b',
    '\u{1f408}',
    '\ud83d',
    '\ufeff',
    '\u2028',
    '\0',
    '\u00ff\u0080',
  ]
  // Elements are read in batches of 128: some batches are all ASCII, others are not.
  const list = Array.from({ length: 700 }, (_, n) => ({
    n,
    text: n % 97 === 96 ? texts[Math.floor(n / 97)] : 'plain',
  }))
  const all = [...list, ...texts.map((text) => ({ text }))]
  expect(store.read(store.write({ all }, memory))).toEqual({ all })
})

test('any depth can be stored, also for an object that two elements share', () => {
  const { store, memory } = open()
  const bottom = { n: 1 }
  let deep: object = bottom
  for (let n = 0; n < 20_000; n += 1) deep = n % 2 === 0 ? [deep] : { deep }
  const state = { list: [deep, { bottom }] }
  store.write(state, memory)
  const { list } = Object(store.read(store.write({ list: ['new', ...state.list] }, memory)))
  let [, below]: unknown[] = list
  for (let n = 0; n < 20_000; n += 1) below = Object.values(Object(below))[0]
  expect([below, list[2].bottom]).toEqual([{ n: 1 }, { n: 1 }])
})

test.each(KINDS)('an unchanged state or an equal copy adds no row, %s', (_, keys) => {
  const { database, store, memory } = open(keys)
  const state = { messages: numbered(100), facts: keyed(50), map: new Map([[1, { n: 1 }]]), at: 5 }
  const id = store.write(state, memory)
  const before = counts(database)
  expect(store.write(state, memory)).toBe(id)
  expect(store.write({ ...state, messages: [...state.messages] }, memory)).toBe(id)
  expect(store.write(structuredClone(state), memory)).toBe(id)
  expect(store.write({ ...structuredClone(state), messages: numbered(100) }, memory)).toBe(id)
  expect(counts(database)).toEqual(before)
})

test('a deeply frozen state is stored', () => {
  const { store, memory } = open()
  const freeze = <T>(value: T): T => {
    if (typeof value === 'object' && value !== null) Object.values(value).forEach(freeze)
    return Object.freeze(value)
  }
  const state = freeze({ messages: numbered(20), inner: { list: numbered(20) } })
  const id = store.write(state, memory)
  expect(store.write(state, memory)).toBe(id)
  expect(store.read(id)).toEqual(state)
})

test('every read returns new objects that share nothing', () => {
  const { store, memory } = open()
  const id = store.write({ messages: numbered(3) }, memory)
  const read = Object(store.read(id))
  read.messages[0].inner.n = 'changed'
  expect(store.read(id)).toEqual({ messages: numbered(3) })
})

test('a read with keys returns only those, in the order of the state', () => {
  const { database, store, memory } = open()
  const id = store.write({ a: 'x'.repeat(100), messages: numbered(5), step: 2, b: [1] }, memory)
  database.exec(`DELETE FROM elements WHERE text LIKE '%inner%'`)
  const read = store.read(id, { keys: ['step', 'absent', 'b', 'a'] })
  expect(Object.entries(Object(read))).toEqual([
    ['a', 'x'.repeat(100)],
    ['step', 2],
    ['b', [1]],
  ])
  expect(() => store.read(id)).toThrow(expect.objectContaining({ code: 'STORE_DAMAGED' }))
  const large = store.write(keyed(300), memory)
  expect(store.read(large, { keys: ['key 7'] })).toEqual({ 'key 7': { n: 7 } })
  const list = store.write([1], memory)
  expect(() => store.read(list, { keys: ['0'] })).toThrow(
    expect.objectContaining({ code: 'BAD_INPUT' }),
  )
})

test('the summary gives the kind and size of each key without reading values', () => {
  const { database, store, memory } = open()
  const state = {
    messages: numbered(40),
    facts: keyed(50),
    inner: { list: numbered(16) },
    n: 1,
    at: new Date(1),
  }
  const id = store.write(state, memory)
  database.exec('DELETE FROM elements; DELETE FROM nodes')
  expect(store.summary(id)).toEqual({
    kind: 'object',
    length: 5,
    keys: [
      { key: 'messages', kind: 'list', length: 40 },
      { key: 'facts', kind: 'object', length: 50 },
      { key: 'inner', kind: 'object', length: 1 },
      { key: 'n', kind: 'value', length: null },
      { key: 'at', kind: 'value', length: null },
    ],
  })
  const list = store.write([1, 2], new StateMemory())
  expect(store.summary(list)).toEqual({ kind: 'list', length: 2, keys: [] })
})

test('an unstorable value is rejected with its path, and the next state is stored completely', () => {
  const { database, store, memory } = open()
  const messages: Record<string, unknown>[] = numbered(4)
  const facts: Record<string, unknown> = keyed(40)
  const state = { messages, facts, inner: { list: numbered(20) } }
  const id = store.write(state, memory)
  const save = () => database.transaction(() => store.write(state, memory))
  const last = messages[3] ?? {}
  last['tool'] = { run: () => 1 }
  expect(save).toThrow('Cannot store messages[3].tool.run: it is a function')
  Reflect.deleteProperty(last, 'tool')
  facts['key 5'] = { handle: [Symbol('s')] }
  expect(save).toThrow('Cannot store facts["key 5"].handle[0]: it is a symbol')
  facts['key 5'] = { n: 5 }
  state.inner.list[2] = Object(new WeakMap())
  expect(save).toThrow('Cannot store inner.list[2]: it is a WeakMap')
  state.inner.list[2] = { n: 2, inner: { n: 2 } }
  expect(store.read(save())).toEqual(store.read(id))
})

test('the memory discards a rolled back write, even if the caller does not call forget', () => {
  const { database, store, memory } = open()
  const state = { messages: numbered(50) }
  store.write(state, memory)
  const reason = new Error('power')
  const fail = () =>
    database.transaction(() => {
      state.messages.push({ n: 50, inner: { n: 50 } })
      store.write(state, memory)
      throw reason
    })
  expect(fail).toThrow(reason)
  // Another writer gets the ids of the lost rows, for states of the same form.
  store.write({ messages: [...numbered(50), { n: -1, inner: { n: -1 } }] }, new StateMemory())
  state.messages.push({ n: 51, inner: { n: 51 } })
  expect(store.read(store.write(state, memory))).toEqual(state)
})

test('a memory that is used with another store discards its view of the first', () => {
  const [one, other] = [open(), open()]
  const state = { messages: numbered(50) }
  one.store.write(state, one.memory)
  expect(other.store.read(other.store.write(state, one.memory))).toEqual(state)
})

const DAMAGE: readonly (readonly [name: string, sql: string, code: string])[] = [
  ['a missing state', 'DELETE FROM states', 'STORE_DAMAGED'],
  ['a missing node', 'DELETE FROM nodes WHERE id = 1', 'STORE_DAMAGED'],
  ['a missing element', 'DELETE FROM elements WHERE id = 7', 'STORE_DAMAGED'],
  ['a missing tagged element', 'DELETE FROM elements WHERE form = 1', 'STORE_DAMAGED'],
  ['a node that is cut off', "UPDATE nodes SET body = x'80' WHERE id = 1", 'STATE_UNREADABLE'],
  ['a node with less in it', "UPDATE nodes SET body = x'02' WHERE id = 1", 'STATE_UNREADABLE'],
  [
    'an element that is not JSON',
    "UPDATE elements SET text = '{' WHERE id = 7",
    'STATE_UNREADABLE',
  ],
  ['an element that is two', "UPDATE elements SET text = '1,2' WHERE id = 7", 'STATE_UNREADABLE'],
  ['a damaged tag', `UPDATE elements SET text = '{"$":1}' WHERE form = 1`, 'STATE_UNREADABLE'],
  [
    'an entry without a key',
    "UPDATE elements SET text = '[1]' WHERE text LIKE '[%'",
    'STATE_UNREADABLE',
  ],
  ['a row that is not JSON', "UPDATE states SET body = '['", 'STATE_UNREADABLE'],
  [
    'a row of another form',
    'UPDATE states SET body = \'[1,"mark",["list",1]]\'',
    'STATE_UNREADABLE',
  ],
  [
    'a row of an unknown kind',
    'UPDATE states SET body = \'[2,"mark",["tree",1]]\'',
    'STATE_UNREADABLE',
  ],
  ['a row of an older format', 'UPDATE states SET body = \'[1,"mark",{}]\'', 'STATE_UNREADABLE'],
  ['a newer row', 'UPDATE states SET body = \'[3,"mark",{}]\'', 'STATE_UNREADABLE'],
]

test.each(DAMAGE)('%s is an error that names the state', (_, sql, code) => {
  const { database, store, memory } = open()
  const id = store.write({ messages: [...numbered(40), new Date(0)], facts: keyed(40) }, memory)
  database.exec(sql)
  const message = expect.stringMatching(code === 'STORE_DAMAGED' ? `state ${id}$` : /./)
  expect(() => store.read(id)).toThrow(expect.objectContaining({ code, message }))
})

test('a state that does not exist is missing', () => {
  const { store, memory } = open()
  const id = parseStateId(77)
  const missing = expect.objectContaining({
    code: 'STORE_DAMAGED',
    message: 'The store lacks the row of the state 77',
  })
  expect(() => store.read(id)).toThrow(missing)
  expect(() => store.summary(id)).toThrow(missing)
  expect(() => store.append(id, { key: 'a', items: [1] }, memory)).toThrow(missing)
})
