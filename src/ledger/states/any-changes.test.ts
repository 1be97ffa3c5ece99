// Whatever is done to a state between two writes, and with whichever memory it is written: every state that
// was ever written reads back as it was then. The comparison is with naive full copies.
/* oxlint-disable vitest/expect-expect, vitest/no-standalone-expect -- the checks are in what every command runs */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { tries } from '../../../test/effort.js'
import { ClassRegistry, SavestateError, type StateId } from '../../model/index.js'
import { type Database, openDatabase } from '../../system/index.js'
import { type GivenKeys, KEY_TABLES, SealingKey, StoreVault } from '../sealing/index.js'
import { STATE_TABLES, StateMemory, StateStore } from './index.js'
import { Box, difference, differenceInContent, strictCopy } from './strict-copy.js'

const root = mkdtempSync(join(tmpdir(), 'savestate-states-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const classes = new ClassRegistry()
classes.register('Box', {
  type: Box,
  toValue: ({ content }) => content,
  fromValue: (value) => new Box(value),
})

type State = Record<string, unknown>

/** What a command may choose, as numbers that are taken modulo what there is. */
type Choice = { readonly a: number; readonly b: number; readonly c: number; readonly leaf: number }

type Late = { readonly id: StateId; readonly copy: unknown }

class World {
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

function at<Item>(items: readonly Item[], place: number): Item | undefined {
  return items[place % Math.max(items.length, 1)]
}

function define(object: object, { key, value }: { key: string; value: unknown }): void {
  Object.defineProperty(object, key, {
    value,
    enumerable: true,
    writable: true,
    configurable: true,
  })
}

const KEYS = ['n', 'role', 'new', '__proto__', '$', '7', 'messages', 'meta']

/** Puts a value somewhere into an object of any kind. */
function put(object: object | undefined, { value, c }: { value: unknown; c: number }): void {
  if (object instanceof Map) object.set(c % 2 === 0 ? c % 3 : value, value)
  else if (object instanceof Set) object.add(value)
  else if (object instanceof Date) object.setTime(c)
  else if (object instanceof Box) return
  else if (Array.isArray(object)) object[c % (object.length + 1)] = value
  else if (object !== undefined) define(object, { key: at(KEYS, c) ?? '', value })
}

const COMMANDS: Readonly<Record<string, (world: World, choice: Choice) => void>> = {
  append: (world, choice) => at(world.lists(), choice.a)?.push(world.make(choice)),
  appendMany: (world, choice) => {
    for (let n = 0; n < choice.c % 60; n += 1)
      at(world.lists(), choice.a)?.push({ n, c: choice.c % 5 })
  },
  edit: (world, choice) =>
    put(at(world.objects(), choice.a), { value: world.make(choice), c: choice.c }),
  insert: (world, choice) => {
    const list = at(world.lists(), choice.a)
    list?.splice(choice.b % (list.length + 1), 0, world.make(choice))
  },
  remove: (world, choice) => {
    const list = at(world.lists(), choice.a)
    world.removed.push(...(list?.splice(choice.b % (list.length + 1), 1 + (choice.c % 3)) ?? []))
  },
  bringBack: (world, choice) => {
    const list = at(world.lists(), choice.a)
    if (world.removed.length > 0)
      list?.splice(choice.b % (list.length + 1), 0, at(world.removed, choice.c))
  },
  truncate: (world, choice) => {
    const list = at(world.lists(), choice.a)
    if (list !== undefined) list.length = choice.b % (list.length + 1)
  },
  move: (world, choice) => {
    const list = at(world.lists(), choice.a)
    if (list !== undefined)
      list.splice(choice.c % (list.length + 1), 0, ...list.splice(choice.b % (list.length + 1), 1))
  },
  reverse: (world, choice) => at(world.lists(), choice.a)?.reverse(),
  addKey: (world, choice) => put(world.state, { value: world.make(choice), c: choice.c }),
  removeKey: (world, choice) =>
    Reflect.deleteProperty(world.state, at(Object.keys(world.state), choice.a) ?? ''),
  removeInner: (world, choice) => {
    const object = at(world.objects(), choice.a)
    if (object instanceof Map || object instanceof Set) object.clear()
    else if (object !== undefined && !(object instanceof Box) && !Array.isArray(object))
      Reflect.deleteProperty(object, at(Object.keys(object), choice.b) ?? '')
  },
  rename: (world, choice) => {
    const object = at(world.objects(), choice.a)
    const [key] = object === undefined ? [] : Object.keys(object)
    if (object === undefined || key === undefined || Array.isArray(object)) return
    if (object instanceof Box) return
    define(object, { key: `${key}'`, value: Reflect.get(object, key) })
    Reflect.deleteProperty(object, key)
  },
  changePrototype: (world, choice) => {
    const object = at(world.objects(), choice.a)
    const prototype: unknown = Object.getPrototypeOf(object)
    if (prototype === Object.prototype) Object.setPrototypeOf(object, null)
    else if (prototype === null) Object.setPrototypeOf(object, Object.prototype)
  },
  share: (world, choice) => {
    const objects = world.objects()
    put(at(objects, choice.a), { value: at(objects, choice.b), c: choice.c })
  },
  shareAtRoot: (world, choice) =>
    put(world.state, { value: at(world.objects(), choice.b), c: choice.c }),
  shareInList: (world, choice) =>
    at(world.lists(), choice.a)?.push({ shared: at(world.objects(), choice.b) }),
  cloneAll: (world) => {
    world.state = strictCopy(world.state)
  },
  cloneOne: (world, choice) => {
    const list = at(world.lists(), choice.a)
    if (list !== undefined && list.length > 0)
      list[choice.b % list.length] = strictCopy(list[choice.b % list.length])
  },
  newArrays: (world) => {
    const copied = (value: unknown) => (Array.isArray(value) ? [...value] : value)
    const entries = Object.entries(world.state).map(([key, value]) => [key, copied(value)])
    world.state = Object.fromEntries(entries)
  },
  nothing: () => undefined,
}

const choice = fc.record({ a: fc.nat(), b: fc.nat(), c: fc.nat(200), leaf: fc.nat() })
const change = fc.array(fc.tuple(fc.constantFrom(...Object.keys(COMMANDS)), choice), {
  minLength: 1,
  maxLength: 3,
})
const command = fc.record({
  change,
  late: fc.array(fc.record({ change, choice }), { maxLength: 2 }),
  memory: fc.constantFrom(0, 0, 0, 0, 1, 2),
  fate: fc.constantFrom('commit', 'commit', 'commit', 'commit', 'roll back', 'collect'),
  appended: choice,
})

/** More than 32 make it a list of entries. */
const facts = fc.constantFrom(0, 0, 2, 34)

let count = 0
const encrypted = { key: new SealingKey(Buffer.alloc(32, 7)) }
test.each([
  ['plain', {}, tries(240, 40)],
  ['encrypted', encrypted, tries(80, 14)],
])('every %s state reads back exactly, whatever came before and after', (_, keys, numRuns) => {
  fc.assert(
    fc.property(fc.array(command, { minLength: 1, maxLength: 12 }), facts, (commands, facts) => {
      count += 1
      const world = new World(join(root, `${count}.db`), { facts, keys })
      for (const { late, change, memory, fate, appended } of commands) {
        const before = strictCopy(world.state)
        const chosen = world.memories[memory] ?? new StateMemory()
        changeAndAppend(world, { late, memory: chosen })
        for (const [name, how] of change) COMMANDS[name]?.(world, how)
        if (fate === 'collect')
          world.database.exec('UPDATE state_generation SET number = number + 1')
        if (fate === 'roll back') rollBack(world, chosen)
        const isStored = isKept(() => world.write(chosen))
        if (isStored) isKept(() => world.append(chosen, appended))
        if (isStored) world.check()
        else world.state = before
      }
      world.database.close()
    }),
    { numRuns, seed: 1 },
  )
})

type Change = readonly (readonly [name: string, choice: Choice])[]

function changeAndAppend(
  world: World,
  {
    late,
    memory,
  }: {
    readonly late: readonly { readonly change: Change; readonly choice: Choice }[]
    readonly memory: StateMemory
  },
): void {
  let last: Late | undefined
  for (const [place, { change: changes, choice: chosen }] of late.entries()) {
    const isFollowed = place + 1 < late.length
    for (const [name, how] of changes) COMMANDS[name]?.(world, how)
    isKept(() => {
      last = world.appendLate(memory, { choice: chosen, last, isFollowed })
    })
  }
}

/** False if it was refused, which is right for an object that an instance of a class shares. */
function isKept(work: () => void): boolean {
  try {
    work()
    return true
  } catch (error) {
    if (error instanceof SavestateError && error.code === 'STATE_UNSTORABLE') return false
    throw error
  }
}

/** The rows go, and nobody tells the memory. */
function rollBack(world: World, memory: StateMemory): void {
  const reason = new Error('rolled back')
  try {
    world.database.transaction(() => {
      world.store.write(world.state, memory)
      throw reason
    })
  } catch (error) {
    if (error !== reason && !(error instanceof SavestateError)) throw error
  }
}
