// A state with random changes, and copies of every version that was stored (test/ledger/states/any-changes.test.ts).
/* oxlint-disable vitest/no-standalone-expect -- every command runs these checks */
import { expect } from 'vitest'
import { ClassRegistry, type StateId } from '../../src/model/index.js'
import { type Database, openDatabase } from '../../src/system/index.js'
import { type GivenKeys, KEY_TABLES, StoreVault } from '../../src/ledger/encryption/index.js'
import { STATE_TABLES, StateMemory, StateStore } from '../../src/ledger/states/index.js'
import { Box, difference, stateDifference, strictCopy } from './strict-copy.js'

const classes = new ClassRegistry()
classes.register('Box', {
  type: Box,
  toValue: ({ content }) => content,
  fromValue: (value) => new Box(value),
})

type State = Record<string, unknown>

/** The random choices of a command; each number is taken modulo the number of alternatives. */
export type Choice = {
  readonly a: number
  readonly b: number
  readonly c: number
  readonly leaf: number
}

export type Written = { readonly id: StateId; readonly copy: unknown }

export class World {
  readonly database: Database
  readonly store: StateStore
  readonly memories = [new StateMemory(), new StateMemory()]
  readonly written: Written[] = []
  /** Removed elements, which may be added again. */
  readonly removed: unknown[] = []
  state: State
  count = 0

  constructor(path: string, options: { readonly facts: number; readonly keys: GivenKeys }) {
    this.database = openDatabase(path, { timeoutMs: 1000 })
    this.database.exec('PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY')
    this.database.exec(STATE_TABLES + KEY_TABLES)
    const vault = new StoreVault(this.database, options.keys)
    this.store = new StateStore(this.database, { classes, vault })
    this.state = {
      messages: [{ role: 'user', parts: [{ n: 1 }], meta: { n: 1 } }],
      toolCalls: [],
      facts: Object.fromEntries(
        Array.from({ length: options.facts }, (_, n) => [`fact ${n}`, { n: n % 5 }]),
      ),
      step: 0,
    }
  }

  /** A new value of a random type. */
  make({ leaf, c }: Choice): unknown {
    this.count += 1
    const n = this.count
    const kinds: (() => unknown)[] = [
      () => ({
        role: 'user',
        n,
        content: [{ type: 'text', text: `text ${n}` }],
        meta: { ok: true },
      }),
      () => ({ n, undefined, nan: Number.NaN, minus: -0, big: 10n, $: 'tag', list: [null, n] }),
      () => n,
      () => `text ${n % 3}`,
      () => new Date(n),
      () => new Map<unknown, unknown>([[{ n }, 'a']]).set('b', { n }),
      () => new Set<unknown>([n, { n }]),
      () => Object.assign(Object.create(null), { n, inner: { n } }),
      () => Object.assign(['a', { n }], { length: 4 }),
      () => ({ same: 'content' }),
      () => new Box({ n }),
      () => Array.from({ length: c % 40 }, (_, place) => ({ place: place % 7 })),
      () => ({ deep: { list: Array.from({ length: 16 + (c % 30) }, (_, i) => [i]) }, n }),
      () => Object.fromEntries(Array.from({ length: 30 + (c % 9) }, (_, i) => [`key ${i}`, { i }])),
      () => 'long '.repeat(30) + String(n),
      () => undefined,
    ]
    return kinds[leaf % kinds.length]?.()
  }

  /** All objects of the state that can be changed in place, in some fixed order. */
  objects(from: object = this.state): object[] {
    const found = new Set<object>([from])
    for (const object of found) {
      const items =
        object instanceof Map
          ? [...object.keys(), ...object.values()]
          : object instanceof Set
            ? [...object]
            : Object.values(object)
      for (const item of items) if (typeof item === 'object' && item !== null) found.add(item)
    }
    return [...found]
  }

  lists(): unknown[][] {
    return Object.values(this.state).filter((value) => Array.isArray(value))
  }

  write(memory: StateMemory): void {
    const copy = strictCopy(this.state)
    this.count += 1
    const isCaptured = this.count % 3 === 0
    const write = isCaptured
      ? this.store.capture(this.state, memory)
      : () => this.store.write(this.state, memory)
    const id = this.database.transaction(write)
    expect(difference(copy, this.state)).toBe(undefined)
    this.written.push({ id, copy })
  }

  /** Appends to a list of a stored state; the items may be part of the state already. The stored state does not change. */
  append(
    memory: StateMemory,
    { choice, base }: { readonly choice: Choice; readonly base: Written | undefined },
  ): Written | undefined {
    if (base === undefined) return undefined
    const { keys } = this.store.summary(base.id)
    const key = keys.filter(({ kind }) => kind === 'list').at(-1)?.key ?? ''
    const list = Object.hasOwn(this.state, key) ? this.state[key] : undefined
    if (!Array.isArray(list)) return undefined
    const { a, b } = choice
    // An item must not refer to the list that contains it.
    const objects = this.objects().filter((object) => !this.objects(object).includes(list))
    const items = [{ shared: at(objects, a) }, at(objects, b), this.make(choice)]
    const before = strictCopy(base.copy as State)
    // A new array: the same list under another key does not grow.
    const copy = { ...before, [key]: [...(before[key] as unknown[]), ...strictCopy(items)] }
    const id = this.database.transaction(() => this.store.append(base.id, { key, items }, memory))
    list.push(...items)
    const written = { id, copy }
    this.written.push(written)
    return written
  }

  check(): void {
    for (const { id, copy } of this.written)
      expect([id, stateDifference(copy, this.store.read(id))]).toEqual([id, undefined])
  }
}

export function at<Item>(items: readonly Item[], place: number): Item | undefined {
  return items[place % Math.max(items.length, 1)]
}
