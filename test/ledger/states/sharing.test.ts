// Objects keep their identity within an element, including sharing and cycles. Between elements they are copied.
/* oxlint-disable vitest/expect-expect, vitest/no-standalone-expect -- the checks are in what every save runs */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { ClassRegistry } from '../../../src/model/index.js'
import { type Database, openDatabase } from '../../../src/system/index.js'
import { STATE_TABLES, StateMemory, StateStore } from '../../../src/ledger/states/index.js'
import { Box, difference, differenceInContent, strictCopy } from '../../support/strict-copy.js'

const folder = mkdtempSync(join(tmpdir(), 'savestate-sharing-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const classes = new ClassRegistry()
classes.register('Box', {
  type: Box,
  toValue: ({ content }) => content,
  fromValue: (value) => new Box(value),
})

let count = 0
function open(): {
  readonly database: Database
  readonly store: StateStore
  readonly memory: StateMemory
  /** Writes the state, checks that it reads back, and returns the texts of the new elements. */
  readonly save: (state: unknown) => readonly string[]
} {
  count += 1
  const database = openDatabase(join(folder, `${count}.db`), { timeoutMs: 1000 })
  database.exec('PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY')
  database.exec(STATE_TABLES)
  const store = new StateStore(database, { classes })
  const memory = new StateMemory()
  const save = (state: unknown) => {
    const last = Number(database.get('SELECT coalesce(max(id), 0) AS id FROM elements')?.['id'])
    const id = store.write(state, memory)
    expect(differenceInContent(state, store.read(id))).toBe(undefined)
    const rows = database.all('SELECT text FROM elements WHERE id > ? ORDER BY id', last)
    return rows.map(({ text }) => String(text))
  }
  return { database, store, memory, save }
}

test('the same object in two messages reads back as two equal objects', () => {
  const { store, memory, save } = open()
  const call = { id: 'c1', args: { q: 1 }, result: '' }
  const state = { messages: [{ role: 'assistant', calls: [call] }], toolCalls: [call, call] }
  expect(save(state)).toEqual([
    '{"role":"assistant","calls":[{"id":"c1","args":{"q":1},"result":""}]}',
    '{"id":"c1","args":{"q":1},"result":""}',
  ])
  const { messages, toolCalls } = Object(store.read(store.write(state, memory)))
  expect(new Set([messages[0].calls[0], ...toolCalls]).size).toBe(3)
  call.result = 'found'
  expect(save(state)).toEqual([
    '{"role":"assistant","calls":[{"id":"c1","args":{"q":1},"result":"found"}]}',
    '{"id":"c1","args":{"q":1},"result":"found"}',
  ])
})

test('sharing and cycles inside one element are kept', () => {
  const { store, memory } = open()
  const shared = { n: 1 }
  const cyclic: Record<string, unknown> = { one: shared, two: new Map([['three', shared]]) }
  cyclic['self'] = cyclic
  const box = new Box(shared)
  const state = { list: [cyclic, { box, again: box }], value: { deep: [cyclic, cyclic] } }
  const { list, value } = Object(store.read(store.write(state, memory)))
  expect(difference(state.list[0], list[0])).toBe(undefined)
  expect(difference(state.list[1], list[1])).toBe(undefined)
  expect(difference(state.value, value)).toBe(undefined)
})

test('elements that refer to each other are stored with copies of each other', () => {
  const { save } = open()
  const [a, b]: [Record<string, unknown>, Record<string, unknown>] = [{ name: 'a' }, { name: 'b' }]
  a['next'] = b
  b['back'] = a
  expect(save({ list: [a, b] })).toEqual([
    '{"$":["Def",0,{"name":"a","next":{"name":"b","back":{"$":["Ref",0]}}}]}',
    '{"$":["Def",0,{"name":"b","back":{"name":"a","next":{"$":["Ref",0]}}}]}',
  ])
})

test('a reference to the state or to the containing list is rejected, with its path', () => {
  const facts: Record<string, unknown> = Object.fromEntries(
    Array.from({ length: 40 }, (_, n) => [`fact ${n}`, { n }]),
  )
  const long = Array.from({ length: 20 }, (_, n) => ({ n }))
  const state: Record<string, unknown> = { list: [{ n: 1 }], facts, deep: { long } }
  const backs: readonly (readonly [object, string, unknown, string])[] = [
    [state, 'self', state, 'self'],
    [Object((state['list'] as unknown[])[0]), 'state', { state }, 'list[0].state.state'],
    [Object((state['list'] as unknown[])[0]), 'list', [state['list']], 'list[0].list[0]'],
    [state['list'] as object, '1', state['list'], 'list[1]'],
    [Object(facts['fact 7']), 'facts', facts, 'facts["fact 7"].facts'],
    [Object(long[3]), 'deep', new Map([[1, state['deep']]]), 'deep.long[3].deep[0].value'],
  ]
  const { store, memory } = open()
  for (const [object, key, back, path] of backs) {
    const id = store.write(state, memory)
    Reflect.set(object, key, back)
    const refused = { code: 'STATE_UNSTORABLE', message: expect.stringMatching(/^Cannot store /) }
    const message = `Cannot store ${path}: it refers back to the state`
    expect(() => store.write(state, memory)).toThrow(expect.objectContaining(refused))
    expect(() => store.write(state, memory)).toThrow(message)
    if (Array.isArray(object)) object.pop()
    else Reflect.deleteProperty(object, key)
    expect(store.read(store.write(state, memory))).toEqual(store.read(id))
  }
})

test('equal copies, with the same sharing, add no row', () => {
  const { save } = open()
  const shared = { n: 1 }
  const state = { list: [{ one: shared, two: shared }, { at: new Date(5) }] }
  expect(save(state)).toHaveLength(2)
  expect(save(strictCopy(state))).toEqual([])
  expect(save({ list: [{ one: { n: 1 }, two: { n: 1 } }, { at: new Date(5) }] })).toEqual([
    '{"one":{"n":1},"two":{"n":1}}',
  ])
  const one = { n: 1 }
  expect(save({ list: [{ one, two: one }, { at: new Date(6) }] })).toEqual([
    '{"at":{"$":["Date",6]}}',
  ])
})

test('an element that moved within its list, or is added again, is not stored again', () => {
  const { save } = open()
  const list = Array.from({ length: 200 }, (_, n) => ({ n, inner: { n } }))
  save({ list })
  const [first, ...rest] = list
  expect(save({ list: [...rest.toReversed(), { n: -1 }, first] })).toEqual(['{"n":-1}'])
  expect(save({ list })).toEqual([])
})
