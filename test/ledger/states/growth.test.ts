// The rows that a change adds do not depend on the length of the list (docs/internals/sessions.md#states).
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { type Database, openDatabase } from '../../../src/system/index.js'
import { StateMemory, StateStore } from '../../../src/ledger/states/index.js'
import { STATE_TABLES } from '../../../src/ledger/states/tables.js'

const folder = mkdtempSync(join(tmpdir(), 'savestate-states-'))
afterAll(() => rmSync(folder, { recursive: true }))

let count = 0
function open(): { readonly database: Database; readonly store: StateStore } {
  const database = openDatabase(join(folder, `${++count}.db`), { timeoutMs: 1000 })
  // Each write here is a transaction of its own, thousands of them.
  database.exec('PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY')
  database.exec(STATE_TABLES)
  return { database, store: new StateStore(database) }
}

type Rows = { readonly elements: number; readonly nodes: number; readonly nodeBytes: number }

function rows(database: Database): Rows {
  const row = database.get(
    `SELECT (SELECT count(*) FROM elements) AS elements, (SELECT count(*) FROM nodes) AS nodes,
       (SELECT coalesce(sum(length(body)), 0) FROM nodes) AS nodeBytes`,
  )
  return {
    elements: Number(row?.['elements']),
    nodes: Number(row?.['nodes']),
    nodeBytes: Number(row?.['nodeBytes']),
  }
}

const message = (n: number) => ({ role: 'user', content: `message ${n}`, meta: { n } })
const messages = (length: number) => Array.from({ length }, (_, n) => message(n))

type Change = (list: ReturnType<typeof messages>) => void

/** The rows that each change adds. */
function added(length: number, changes: Readonly<Record<string, Change>>): Map<string, Rows> {
  const { database, store } = open()
  const memory = new StateMemory()
  const state = { messages: messages(length) }
  database.transaction(() => store.write(state, memory))
  const costs = new Map<string, Rows>()
  for (const [name, change] of Object.entries(changes)) {
    const before = rows(database)
    change(state.messages)
    const id = database.transaction(() => store.write(state, memory))
    expect({ name, isRead: isDeepStrictEqual(store.read(id), state) }).toMatchObject({
      isRead: true,
    })
    const after = rows(database)
    costs.set(name, {
      elements: after.elements - before.elements,
      nodes: after.nodes - before.nodes,
      nodeBytes: after.nodeBytes - before.nodeBytes,
    })
  }
  database.close()
  return costs
}

test.each([100, 3000, 20_000])(
  'in a list of %i, a change at any index touches few nodes',
  (length) => {
    const changes = {
      append: (list: unknown[]) => list.push(message(-1)),
      unshift: (list: unknown[]) => list.unshift(message(-2)),
      insert: (list: unknown[]) => list.splice(Math.floor(length / 2), 0, message(-3)),
      edit: (list: ReturnType<typeof messages>) => {
        const middle = list[Math.floor(length / 4)]
        if (middle !== undefined) middle.meta.n = -4
      },
      remove: (list: unknown[]) => list.splice(Math.floor(length / 3), 1),
    }
    for (const [name, { elements, nodes, nodeBytes }] of added(length, changes)) {
      expect({ name, elements }).toEqual({ name, elements: name === 'remove' ? 0 : 1 })
      const isCheap = nodes <= 8 && nodeBytes <= 2000
      expect({ name, nodes, nodeBytes, isCheap }).toMatchObject({ isCheap: true })
    }
  },
)

test('append adds the same rows as writing the whole state, and gives the same state', () => {
  const { database, store } = open()
  const memory = new StateMemory()
  const base = store.write({ messages: messages(3000) }, memory)
  const before = rows(database)
  const id = store.append(base, { key: 'messages', items: [message(3000)] }, memory)
  expect(rows(database).elements - before.elements).toBe(1)
  expect(rows(database).nodes - before.nodes).toBeLessThanOrEqual(4)
  expect(store.read(id)).toEqual({ messages: messages(3001) })
  database.close()
})

test('equal states of two writers share every element without affecting each other', () => {
  const { database, store } = open()
  const [a, b] = [new StateMemory(), new StateMemory()]
  const first = store.write({ messages: messages(500) }, a)
  const before = rows(database)
  store.write({ messages: messages(500) }, b)
  expect(rows(database).elements).toBe(before.elements)
  const [left, right] = [
    store.append(first, { key: 'messages', items: ['left'] }, a),
    store.append(first, { key: 'messages', items: ['right'] }, b),
  ]
  expect(store.read(left)).toEqual({ messages: [...messages(500), 'left'] })
  expect(store.read(right)).toEqual({ messages: [...messages(500), 'right'] })
  expect(store.read(first)).toEqual({ messages: messages(500) })
  database.close()
})

test('thousands of equal elements share one row', () => {
  const { database, store } = open()
  const state = { list: Array.from({ length: 5000 }, () => 'the same') }
  const id = store.write(state, new StateMemory())
  expect(rows(database).elements).toBe(1)
  expect(store.read(id)).toEqual(state)
  database.close()
})

test('a writer discards its view of what is stored after a collection', () => {
  const { database, store } = open()
  const memory = new StateMemory()
  const state = { messages: messages(50) }
  store.write(state, memory)
  // Like a collection that finds no state in use.
  database.exec('DELETE FROM states; DELETE FROM nodes; DELETE FROM elements')
  database.exec('UPDATE state_generation SET number = number + 1')
  state.messages.push(message(50))
  expect(store.read(store.write(state, memory))).toEqual(state)
  database.close()
})

test('the error about a missing row names the state, and other states can be read', () => {
  const { database, store } = open()
  const memory = new StateMemory()
  const first = store.write({ messages: messages(3) }, memory)
  const second = store.write({ messages: ['other'] }, memory)
  database.exec("DELETE FROM elements WHERE text LIKE '%message 1%'")
  expect(() => store.read(first)).toThrow(expect.objectContaining({ code: 'STORE_DAMAGED' }))
  expect(store.read(second)).toEqual({ messages: ['other'] })
  database.close()
})
