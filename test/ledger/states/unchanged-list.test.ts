// Long lists and objects with many keys, mostly unchanged: every change is detected, at any position.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { openDatabase } from '../../../src/system/index.js'
import { STATE_TABLES, StateMemory, StateStore } from '../../../src/ledger/states/index.js'
import { stateDifference, strictCopy } from '../../support/strict-copy.js'

const root = mkdtempSync(join(tmpdir(), 'savestate-lists-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

type Item = { n: number; inside: { list: unknown[] }; other?: unknown }
type State = {
  list: unknown[]
  second: unknown[]
  facts: Record<string, unknown>
  lifted?: unknown
}
type Choice = { readonly a: number; readonly b: number }

let made = 0
function newItem(): Item {
  made += 1
  return { n: made, inside: { list: [made, undefined, { deep: `text ${made}` }] } }
}

function newState(): State {
  const items = Array.from({ length: 150 }, (_, n) => (n % 10 === 3 ? n : newItem()))
  const facts = Object.fromEntries(Array.from({ length: 70 }, (_, n) => [`fact ${n}`, { n }]))
  return { list: items, second: Array.from({ length: 70 }, newItem), facts }
}

function itemOf({ list }: State, place: number): Item | undefined {
  const items = list.filter((item): item is Item => typeof item === 'object' && item !== null)
  return items[place % Math.max(items.length, 1)]
}

function factOf({ facts }: State, place: number): string {
  const keys = Object.keys(facts)
  return keys[place % Math.max(keys.length, 1)] ?? 'fact'
}

const COMMANDS: Readonly<Record<string, (state: State, choice: Choice) => unknown>> = {
  append: ({ list }) => list.push(newItem(), newItem()),
  edit: (state, { a, b }) => Object.assign(itemOf(state, a) ?? {}, { n: b }),
  editDeep: (state, { a, b }) => itemOf(state, a)?.inside.list.push(b),
  hole: (state, { a }) => Reflect.deleteProperty(itemOf(state, a)?.inside.list ?? [], 1),
  replace: ({ list }, { a }) => (list[a % (list.length + 1)] = newItem()),
  primitive: ({ list }, { a, b }) => (list[a % (list.length + 1)] = b % 3),
  insert: ({ list }, { a }) => list.splice(a % (list.length + 1), 0, newItem()),
  remove: ({ list }, { a, b }) => list.splice(a % (list.length + 1), b % 70),
  move: ({ list }, { a, b }) => list.splice(b % 50, 0, ...list.splice(a % list.length, 20)),
  clone: ({ list }, { a }) => (list[a % list.length] = strictCopy(list[a % list.length])),
  share: (state, { a, b }) =>
    Object.assign(itemOf(state, a) ?? {}, { other: itemOf(state, b)?.inside }),
  give: ({ list, second }, { a, b }) =>
    second.splice(a % second.length, 0, ...list.splice(b % list.length, 3)),
  take: ({ list, second }, { a }) => list.unshift(...second.splice(a % second.length, 1)),
  copyOver: ({ list, second }, { a }) => second.push(list[a % list.length]),
  lift: (state, { a }) => (state.lifted = itemOf(state, a)?.inside.list),
  editFact: (state, { a, b }) => (state.facts[factOf(state, a)] = { n: b }),
  renameFact: (state, { a }) => {
    const key = factOf(state, a)
    const { [key]: value, ...rest } = state.facts
    state.facts = { ...rest, [`${key}'`]: value }
  },
  shareFact: (state, { a, b }) => (state.facts[factOf(state, a)] = itemOf(state, b)),
  newArrays: (state) => {
    state.list = [...state.list]
    state.facts = { ...state.facts }
  },
  nothing: () => undefined,
}

const command = fc.tuple(
  fc.constantFrom(...Object.keys(COMMANDS)),
  fc.record({ a: fc.nat(), b: fc.nat() }),
)
const steps = fc.array(fc.array(command, { minLength: 1, maxLength: 2 }), {
  minLength: 4,
  maxLength: 10,
})

test('a long list reads back exactly after any change in it, and after none', () => {
  let count = 0
  fc.assert(
    fc.property(steps, (commands) => {
      count += 1
      const database = openDatabase(join(root, `${count}.db`), { timeoutMs: 1000 })
      database.exec('PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY')
      database.exec(STATE_TABLES)
      const store = new StateStore(database)
      const memory = new StateMemory()
      const state = newState()
      for (const step of [[], ...commands]) {
        for (const [name, choice] of step) COMMANDS[name]?.(state, choice)
        const id = database.transaction(() => store.write(state, memory))
        expect(stateDifference(state, store.read(id))).toBe(undefined)
        expect(database.transaction(() => store.write(state, memory))).toBe(id)
      }
      database.close()
    }),
    { numRuns: 40, seed: 1 },
  )
})
