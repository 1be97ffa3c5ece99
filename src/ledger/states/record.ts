// What an element was made of when it was stored: its objects, keys and primitives, flat, in the order of a
// walk. After an object comes the list of its keys, after an array its length, after a Date its time. Comparing the element with it is a tenth of the work of writing it out again, and sees every change
// of what is stored. It does not see a new symbol as a key, or a new property beside the items of an array:
// both would be refused, and to look for them takes longer than all the rest (docs/performance.md#states).
import { types } from 'node:util'
import type { ClassRegistry } from '../../model/index.js'

export type FlatRecord = readonly unknown[]

/** Before an object that is here by reference: its content is recorded where it is stored. */
const LINK = Symbol('link')
/** Before a Date. */
const DATE = Symbol('date')

/** Deeper values are written out each time, which has no limit of the stack. */
const MAX_DEPTH = 100

type Cursor = { readonly record: FlatRecord; at: number }

/** The very same objects, with the same content. */
export function isAsRecorded(value: object, record: FlatRecord): boolean {
  const cursor = { record, at: 0 }
  return isSame(value, cursor) && cursor.at === record.length
}

// This runs for every object of a state at every save: see docs/performance.md#states.
function isSame(value: object, cursor: Cursor): boolean {
  const { record } = cursor
  let at = cursor.at
  if (record[at] !== value) return isSameMarked(value, cursor)
  at += 1
  if (Array.isArray(value)) {
    const { length } = value
    if (record[at] !== length || Object.getPrototypeOf(value) !== Array.prototype) return false
    at += 1
    for (let place = 0; place < length; place += 1) {
      const item: unknown = value[place]
      if (typeof item === 'object' && item !== null) {
        cursor.at = at
        if (!isSame(item, cursor)) return false
        at = cursor.at
      } else {
        if (!Object.is(record[at], item)) return false
        at += 1
      }
    }
    cursor.at = at
    return true
  }
  const keys = record[at]
  if (!isPlainRecord(value) || !Array.isArray(keys)) return false
  at += 1
  let count = 0
  for (const key in value) {
    if (keys[count] !== key) return false
    count += 1
    const item = value[key]
    if (typeof item === 'object' && item !== null) {
      cursor.at = at
      if (!isSame(item, cursor)) return false
      at = cursor.at
    } else {
      if (!Object.is(record[at], item)) return false
      at += 1
    }
  }
  cursor.at = at
  return count === keys.length
}

function isSameMarked(value: object, cursor: Cursor): boolean {
  const { record, at } = cursor
  if (record[at + 1] !== value) return false
  if (record[at] === LINK) {
    cursor.at = at + 2
    return true
  }
  if (record[at] !== DATE || !types.isDate(value)) return false
  cursor.at = at + 3
  return Object.is(record[at + 2], value.getTime())
}

/**
 * Other objects with the same content. True only if nothing in the record is there by reference, and all is
 * JSON data; whether `value` is, and holds no object twice, is still to be seen.
 */
export function isLikeRecorded(value: object, record: FlatRecord): boolean {
  const cursor = { record, at: 0 }
  return isAlike(value, cursor) && cursor.at === record.length
}

function isAlike(value: unknown, cursor: Cursor): boolean {
  const seen = cursor.record[cursor.at]
  cursor.at += 1
  if (typeof value !== 'object' || value === null) return Object.is(seen, value)
  if (Array.isArray(value)) {
    if (!Array.isArray(seen) || cursor.record[cursor.at] !== value.length) return false
    cursor.at += 1
    return value.every((item) => isAlike(item, cursor))
  }
  if (typeof seen !== 'object' || seen === null || Array.isArray(seen)) return false
  const keys = cursor.record[cursor.at]
  const entries = Object.entries(value)
  if (!Array.isArray(keys) || keys.length !== entries.length) return false
  cursor.at += 1
  return entries.every(([key, item], place) => keys[place] === key && isAlike(item, cursor))
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
  value: unknown,
  { draft, depth }: { readonly draft: Draft; readonly depth: number },
): boolean {
  const { record, links, seen } = draft
  if (typeof value !== 'object' || value === null) {
    record.push(value)
    return true
  }
  const isElsewhere = draft.isElsewhere(value)
  if (isElsewhere || seen.has(value)) {
    if (isElsewhere) links.push(value)
    record.push(LINK, value)
    return true
  }
  if (depth > MAX_DEPTH || types.isProxy(value)) return false
  seen.add(value)
  const inside = { draft, depth: depth + 1 }
  if (Array.isArray(value)) {
    if (!isPlainArray(value)) return false
    record.push(value, value.length)
    return value.every((item) => isRecorded(item, inside))
  }
  if (isPlainDate(value, draft.classes)) {
    record.push(DATE, value, value.getTime())
    return true
  }
  if (!isPlainRecord(value) || Object.getOwnPropertySymbols(value).length > 0) return false
  const keys = keyListOf(value, draft.keyLists)
  record.push(value, keys)
  return keys.every((key) => isRecorded(value[key], inside))
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

function isPlainRecord(value: object): value is Record<string, unknown> {
  return Object.getPrototypeOf(value) === Object.prototype
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

function isPlainDate(value: object, classes: ClassRegistry | undefined): value is Date {
  return (
    types.isDate(value) &&
    Object.getPrototypeOf(value) === Date.prototype &&
    classes?.withPrototype(Date.prototype) === undefined &&
    Reflect.ownKeys(value).length === 0
  )
}
