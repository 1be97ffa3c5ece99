// An object that stands in two places of a state is one object again when the state is read, and is stored once.
/* oxlint-disable vitest/expect-expect, vitest/no-standalone-expect -- the checks are in what every save runs */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { ClassRegistry, type StateId } from '../../model/index.js'
import { type Database, openDatabase } from '../../system/index.js'
import { STATE_TABLES, StateMemory, StateStore } from './index.js'
import { Box, difference, strictCopy } from './strict-copy.js'

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
  /** Writes the state, checks that it reads back, and gives the texts of the elements that are new. */
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
    expect(difference(state, store.read(id))).toBe(undefined)
    const rows = database.all('SELECT text FROM elements WHERE id > ? ORDER BY id', last)
    return rows.map(({ text }) => String(text))
  }
  return { database, store, memory, save }
}

test('a tool call that a message also holds is stored with the list of tool calls', () => {
  const { save } = open()
  const call = { id: 'c1', args: { q: 1 }, result: '' }
  const state = { messages: [{ role: 'assistant', calls: [call] }], toolCalls: [call] }
  expect(save(state)).toEqual([
    '{"role":"assistant","calls":[{"$":["Far",["toolCalls",0]]}]}',
    '{"id":"c1","args":{"q":1},"result":""}',
  ])
  call.result = 'found'
  expect(save(state)).toEqual(['{"id":"c1","args":{"q":1},"result":"found"}'])
})

test('a step adds only what is new to a state that shares', () => {
  const { save } = open()
  const state: { messages: object[]; toolCalls: object[] } = { messages: [], toolCalls: [] }
  const step = (n: number) => {
    const call = { id: `call ${n}` }
    state.messages.push({ call })
    state.toolCalls.push(call)
  }
  for (let n = 0; n < 100; n += 1) step(n)
  expect(save(state)).toHaveLength(200)
  step(100)
  expect(save(state)).toEqual(['{"call":{"$":["Far",["toolCalls",100]]}}', '{"id":"call 100"}'])
})

test('elements that lead to each other stay elements of their own', () => {
  const { save } = open()
  const [a, b]: Record<string, unknown>[] = [{ name: 'a' }, { name: 'b' }]
  Object.assign(a ?? {}, { next: b })
  Object.assign(b ?? {}, { back: a })
  expect(save({ list: [a, b] })).toEqual([
    '{"name":"a","next":{"$":["Far",["list",1]]}}',
    '{"name":"b","back":{"$":["Far",["list",0]]}}',
  ])
})

test('the far reference follows its object when that moves', () => {
  const { save } = open()
  const inner = { n: 1 }
  const owner: Record<string, unknown> = { first: inner }
  const state = { list: [owner, 'between', { inner }] as unknown[] }
  save(state)
  // Inside its element.
  Reflect.deleteProperty(owner, 'first')
  owner['second'] = inner
  save(state)
  // With its element.
  state.list.unshift('new')
  save(state)
  // Out of its element, which stays.
  Reflect.deleteProperty(owner, 'second')
  save(state)
  // Into a list that is stored by itself.
  Object.assign(state, { other: [inner] })
  save(state)
})

test('an object is shared from the moment it stands in a second place, and no longer than that', () => {
  const { save } = open()
  const parts = [{ text: 'a' }]
  const state: Record<string, unknown> = { messages: [{ parts }], log: [] }
  save(state)
  state['parts'] = parts
  save(state)
  Reflect.deleteProperty(state, 'parts')
  save(state)
  state['log'] = [parts, { parts }, parts]
  save(state)
  state['messages'] = []
  save(state)
})

test('lists, the state itself, and what is in Maps and Sets can be shared', () => {
  const { save } = open()
  const [key, member] = [{ key: 1 }, { member: 1 }]
  const facts = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`fact ${n}`, { n }]))
  const list: unknown[] = [new Map([[key, 'value']]), new Set([member]), facts]
  const state: Record<string, unknown> = { list, same: list, facts, fact: facts['fact 7'] }
  state['self'] = state
  list.push(list, state, key, { key, member }, new Map([[member, key]]), new Set([key, list]))
  save(state)
  list.reverse()
  save(state)
})

test('a copy in place of an object that was shared is a copy again', () => {
  const { save } = open()
  const shared = { n: 1 }
  const state = { list: [{ one: shared, two: shared }, { shared }] }
  save(state)
  save(strictCopy(state))
  save({ list: [{ one: { n: 1 }, two: { n: 1 } }, { shared: { n: 1 } }] })
  // The content is the same, but now it is one object.
  const one = { n: 1 }
  save({ list: [{ one, two: one }, { shared: { n: 1 } }] })
})

test('an element that was taken out and comes back shares what it shares by then', () => {
  const { save } = open()
  const inner = { n: 1 }
  const element = { inner }
  const state = { list: [element, 'other'] as unknown[] }
  save(state)
  state.list = [{ now: inner }]
  save(state)
  state.list = [{ now: inner }, element]
  save(state)
  state.list = [element]
  save(state)
})

test('what shares is read whole even if only some keys are asked for', () => {
  const { store, memory } = open()
  const call = { id: 1 }
  const id = store.write({ calls: [call], messages: [{ call }], step: 1 }, memory)
  expect(store.read(id, { keys: ['messages', 'absent'] })).toEqual({
    messages: [{ call: { id: 1 } }],
  })
})

test('an instance of a registered class that shares is refused, with the path', () => {
  const shared = { n: 1 }
  const states = [
    { list: [new Box(shared), shared] },
    { list: [shared, { box: new Box(shared) }] },
    { list: [new Box(shared)], other: [new Box([shared])] },
  ]
  for (const state of states) {
    const { store, memory } = open()
    expect(() => store.write(state, memory)).toThrow(
      expect.objectContaining({
        code: 'STATE_UNSTORABLE',
        message: expect.stringMatching(/list\[/),
      }),
    )
    // As it was before: nothing is remembered of the attempt.
    expect(store.read(store.write({ list: [shared] }, memory))).toEqual({ list: [{ n: 1 }] })
  }
  const { save } = open()
  const box = new Box({ n: 1 })
  save({ list: [box, { box }] })
})

test('a far reference that leads nowhere is a malformed state', () => {
  const { database, store, memory } = open()
  const shared = { n: 1 }
  const id: StateId = store.write({ list: [{ shared }, { shared }] }, memory)
  database.exec(`UPDATE elements SET text = replace(text, '"shared"]', '"gone"]')`)
  expect(() => store.read(id)).toThrow(expect.objectContaining({ code: 'STATE_UNREADABLE' }))
})
