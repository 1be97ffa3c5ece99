// A state that is changed at random, and copies of all that was written of it (src/ledger/states/any-changes.test.ts).
/* oxlint-disable vitest/no-standalone-expect -- the checks are in what every command runs */
import { expect } from 'vitest'
import { ClassRegistry, type StateId } from '../src/model/index.js'
import { type Database, openDatabase } from '../src/system/index.js'
import { type GivenKeys, KEY_TABLES, StoreVault } from '../src/ledger/sealing/index.js'
import { STATE_TABLES, StateMemory, StateStore } from '../src/ledger/states/index.js'
import {
  Box,
  difference,
  differenceInContent,
  strictCopy,
} from '../src/ledger/states/strict-copy.js'

const classes = new ClassRegistry()
classes.register('Box', {
  type: Box,
  toValue: ({ content }) => content,
  fromValue: (value) => new Box(value),
})

type State = Record<string, unknown>

/** What a command may choose, as numbers that are taken modulo what there is. */
export type Choice = {
  readonly a: number
  readonly b: number
  readonly c: number
  readonly leaf: number
}

export type Late = { readonly id: StateId; readonly copy: unknown }

export class World {
  readonly database: Database
  readonly store: StateStore
  readonly memories = [new StateMemory(), new StateMemory()]
  readonly written: { readonly id: StateId; readonly copy: unknown }[] = []
  /** Appended to by items that refer to what was changed meanwhile: what they share of it is not said. */
  readonly appendedLate: Late[] = []
  /** Elements that were taken out, and may come back. */
  readonly removed: unknown[] = []
  state: State
  /** The values that had the keys of the state when it was written. */
  lastWritten: State = {}
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

  /** A new value, different from all others, of some kind. */
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
    const id = this.database.transaction(() => this.store.write(this.state, memory))
    expect(difference(copy, this.state)).toBe(undefined)
    this.written.push({ id, copy })
    this.lastWritten = { ...this.state }
  }

  /** Makes a list of the last state longer, with something that may be in the state already. */
  append(memory: StateMemory, choice: Choice): void {
    const base = this.written.at(-1)?.id
    const keys = base === undefined ? [] : this.store.summary(base).keys
    const key = keys.find(({ kind }) => kind === 'list')?.key ?? ''
    const list = Object.hasOwn(this.state, key) ? this.state[key] : undefined
    if (!Array.isArray(list)) return
    const items = [{ shared: at(this.objects(), choice.a) }, this.make(choice)]
    const id = this.database.transaction(() => this.store.append(base, { key, items }, memory))
    list.push(...items)
    this.written.push({ id, copy: strictCopy(this.state) })
  }

  /**
   * The same while the state is not as it was written. What is stored already stays as it was, and the items
   * are stored as they are now. `last` is what the last of these gave, if any came after the last write;
   * if another follows, the items do not lead to the list, which will grow.
   */
  appendLate(
    memory: StateMemory,
    {
      choice,
      last,
      isFollowed,
    }: {
      readonly choice: Choice
      readonly last: Late | undefined
      readonly isFollowed: boolean
    },
  ): Late | undefined {
    const base = last ?? this.written.at(-1)
    if (base === undefined) return undefined
    const { keys } = this.store.summary(base.id)
    const key = keys.filter(({ kind }) => kind === 'list').at(-1)?.key ?? ''
    const list = Object.hasOwn(this.state, key) ? this.state[key] : undefined
    // An item may lead to the list that was written, which grows: then it must have grown here as well.
    if (!Array.isArray(list) || list !== this.lastWritten[key]) return last
    const { a, b, c } = choice
    const objects = this.objects().filter(
      (object) => !isFollowed || !this.objects(object).includes(list),
    )
    const items = [{ shared: at(objects, a) }, at(objects, b), this.make(choice), at(objects, c)]
    list.push(...items)
    // Copied with the state, which the items may hold.
    const { copiedItems } = strictCopy({ copiedItems: items, state: this.state })
    const copy = strictCopy(base.copy as State)
    const copiedList = copy[key]
    if (Array.isArray(copiedList)) copiedList.push(...copiedItems)
    const id = this.database.transaction(() => this.store.append(base.id, { key, items }, memory))
    this.appendedLate.push({ id, copy })
    return { id, copy }
  }

  check(): void {
    for (const { id, copy } of this.appendedLate)
      expect([id, differenceInContent(copy, this.store.read(id))]).toEqual([id, undefined])
    for (const { id, copy } of this.written)
      expect([id, difference(copy, this.store.read(id))]).toEqual([id, undefined])
  }
}

export function at<Item>(items: readonly Item[], place: number): Item | undefined {
  return items[place % Math.max(items.length, 1)]
}
