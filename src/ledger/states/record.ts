// What an element was made of when it was stored: its objects one after the other, each followed by what it is
// made of and by what it holds, its primitives as well as the objects in it. So the objects can be compared one by
// one, without a walk from one to the next: a walk waits for memory at each step, and this reads on. Comparing is a
// tenth of the work of writing the element out again, and sees every change of what is stored. It does not see a new
// symbol as a key, or a new property beside the items of an array: both would be refused, and to look for them takes
// longer than all the rest (docs/performance.md#states).
//
//   object keys value…          a plain object
//   array length item…
//   date DATE time
//
// An object that is here by reference has no place of its own: its content is recorded where it is stored.
import { types } from 'node:util'
import type { ClassRegistry } from '../../model/index.js'

export type FlatRecord = readonly unknown[]

const DATE = Symbol('date')

/** Deeper values are written out each time, which has no limit of the stack. */
const MAX_DEPTH = 100

/** All objects in it have the content that they had. This runs for every object of a state at every save. */
export function isAsRecorded(record: FlatRecord): boolean {
  let at = 0
  while (at < record.length) {
    const object = record[at]
    const made = record[at + 1]
    at += 2
    if (Array.isArray(object)) {
      if (object.length !== made || Object.getPrototypeOf(object) !== Array.prototype) return false
      for (let place = 0; place < object.length; place += 1) {
        const item: unknown = object[place]
        if (!Object.is(record[at], item)) return false
        if (item === undefined && !Object.hasOwn(object, place)) return false
        at += 1
      }
    } else if (made === DATE) {
      if (!isPlainDate(object) || !Object.is(record[at], object.getTime())) return false
      at += 1
    } else {
      if (!isPlainRecord(object) || !Array.isArray(made)) return false
      let count = 0
      for (const key in object) {
        if (made[count] !== key || !Object.is(record[at], object[key])) return false
        count += 1
        at += 1
      }
      if (count !== made.length) return false
    }
  }
  return true
}

/**
 * Other objects with the same content. True only if nothing in the record is there by reference, and all is
 * JSON data; whether `value` is, and holds no object twice, is still to be seen.
 */
export function isLikeRecorded(value: object, record: FlatRecord): boolean {
  const cursor = { record, at: 0 }
  return isAlike(value, cursor) && cursor.at === record.length
}

function isAlike(value: object, cursor: { readonly record: FlatRecord; at: number }): boolean {
  const { record, at } = cursor
  const [seen, made] = [record[at], record[at + 1]]
  if (typeof seen !== 'object' || seen === null || made === DATE) return false
  if (Array.isArray(value) !== Array.isArray(seen)) return false
  const keys = Object.keys(value)
  if (
    Array.isArray(value) ? made !== value.length || keys.length !== made : !isSameList(keys, made)
  )
    return false
  cursor.at += 2 + keys.length
  return Object.values(value).every((item: unknown, place) => {
    const other = record[at + 2 + place]
    if (typeof item !== 'object' || item === null) return Object.is(other, item)
    // What follows it is in the order of what is held; if it is not there, it is recorded elsewhere.
    return isObject(other) && record[cursor.at] === other && isAlike(item, cursor)
  })
}

function isSameList(keys: readonly string[], others: unknown): boolean {
  return (
    Array.isArray(others) &&
    keys.length === others.length &&
    keys.every((key, place) => others[place] === key)
  )
}

export type Recording = {
  readonly record: FlatRecord
  /** The objects that are stored elsewhere. */
  readonly links: readonly object[]
}

/** Most objects have the same few lists of keys: each is kept once. By the list as JSON. */
export type KeyLists = Map<string, readonly string[]>
const MAX_KEY_LISTS = 1000

type Draft = {
  readonly isElsewhere: (object: object) => boolean
  readonly classes: ClassRegistry | undefined
  readonly keyLists: KeyLists
  readonly record: unknown[]
  readonly links: object[]
  readonly seen: Set<object>
}

/** Undefined for an element in which is more than plain objects, arrays, Dates and primitives. */
export function recordOf(
  value: object,
  options: Pick<Draft, 'isElsewhere' | 'classes' | 'keyLists'>,
): Recording | undefined {
  const draft: Draft = { ...options, record: [], links: [], seen: new Set() }
  if (!isRecorded(value, { draft, depth: 0 })) return undefined
  // A copy has no room to grow: less memory to go through each time.
  return { record: draft.record.slice(), links: draft.links }
}

function isRecorded(
  value: object,
  { draft, depth }: { readonly draft: Draft; readonly depth: number },
): boolean {
  const { record, links, seen } = draft
  const isElsewhere = draft.isElsewhere(value)
  if (isElsewhere || seen.has(value)) {
    if (isElsewhere) links.push(value)
    return true
  }
  if (depth > MAX_DEPTH || types.isProxy(value)) return false
  seen.add(value)
  const inside = { draft, depth: depth + 1 }
  const isHeldRecorded = (held: unknown) => !isObject(held) || isRecorded(held, inside)
  if (Array.isArray(value)) {
    if (!isPlainArray(value)) return false
    record.push(value, value.length)
    for (const item of value) record.push(item)
    return value.every(isHeldRecorded)
  }
  const isOwnClass = draft.classes?.withPrototype(Date.prototype) !== undefined
  if (isPlainDate(value) && !isOwnClass) {
    record.push(value, DATE, value.getTime())
    return true
  }
  if (!isPlainRecord(value) || Object.getOwnPropertySymbols(value).length > 0) return false
  const keys = keyListOf(value, draft.keyLists)
  const values = keys.map((key) => value[key])
  record.push(value, keys)
  for (const held of values) record.push(held)
  return values.every(isHeldRecorded)
}

function keyListOf(value: object, keyLists: KeyLists): readonly string[] {
  const keys = Object.keys(value)
  const name = JSON.stringify(keys)
  const known = keyLists.get(name)
  if (known !== undefined) return known
  if (keyLists.size >= MAX_KEY_LISTS) keyLists.clear()
  keyLists.set(name, keys)
  return keys
}

function isPlainRecord(value: unknown): value is Record<string, unknown> {
  return isObject(value) && Object.getPrototypeOf(value) === Object.prototype
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** No holes, and nothing beside the items. */
export function isPlainArray(value: readonly unknown[]): boolean {
  if (Object.getPrototypeOf(value) !== Array.prototype) return false
  const keys = Object.keys(value)
  // Indexes come first and in order.
  return (
    keys.length === value.length &&
    (keys.length === 0 || keys.at(-1) === String(keys.length - 1)) &&
    Object.getOwnPropertySymbols(value).length === 0
  )
}

function isPlainDate(value: unknown): value is Date {
  return (
    types.isDate(value) &&
    Object.getPrototypeOf(value) === Date.prototype &&
    Reflect.ownKeys(value).length === 0
  )
}
