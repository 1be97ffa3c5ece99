// Every written state reads back as it was at its write, after any changes between two writes and with any memory. The test compares
// with naive full copies.
/* oxlint-disable vitest/expect-expect, vitest/no-standalone-expect -- the checks are in what every command runs */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, test } from 'vitest'
import { tries } from '../../support/test-budget.js'
import { SavestateError } from '../../../src/model/index.js'
import { SealingKey } from '../../../src/ledger/encryption/index.js'
import { at, type Choice, World, type Written } from '../../support/random-state.js'
import { StateMemory } from '../../../src/ledger/states/index.js'
import { Box, strictCopy } from '../../support/strict-copy.js'

const root = mkdtempSync(join(tmpdir(), 'savestate-states-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

function define(object: object, { key, value }: { key: string; value: unknown }): void {
  Object.defineProperty(object, key, {
    value,
    enumerable: true,
    writable: true,
    configurable: true,
  })
}

const KEYS = ['n', 'role', 'new', '__proto__', '$', '7', 'messages', 'meta']

/** Sets a value somewhere in an object of any kind. */
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
        if (isStored)
          isKept(() => world.append(chosen, { choice: appended, base: world.written.at(-1) }))
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
  let base: Written | undefined = world.written.at(-1)
  for (const { change: changes, choice: chosen } of late) {
    for (const [name, how] of changes) COMMANDS[name]?.(world, how)
    isKept(() => {
      base = world.append(memory, { choice: chosen, base }) ?? base
    })
  }
}

/** False if it was rejected, as it must be for a cycle through a class instance or a containing object. */
function isKept(work: () => void): boolean {
  try {
    work()
    return true
  } catch (error) {
    if (error instanceof SavestateError && error.code === 'STATE_UNSTORABLE') return false
    throw error
  }
}

/** Rolls back without calling forget. */
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
