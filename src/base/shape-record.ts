// Detects whether a value has changed since it was last serialized. `recordShape` writes the object graph into one flat
// array; `isUnchanged` reads that array from start to end and compares it with the live objects. This takes a tenth of
// the time of serializing again, and it sees changes made in place.
//
// A record has one section per object, each object once:
//
//   object form value…           form: its prototype and its enumerable keys
//   array  length item…
//   date   DATE time
//
// Not detected: a new symbol key, and a new property beside the items of an array.
import { types } from 'node:util'

export type ShapeRecord = readonly unknown[]

type AnyRecord = Readonly<Record<string, unknown>>

/** The prototype and keys of an object. Equal forms are the same object until the cache is full. */
class Form {
  readonly prototype: unknown
  readonly keys: readonly string[]
  /** The forms with one key more. */
  readonly longer = new Map<string, Form>()

  constructor(prototype: unknown, keys: readonly string[]) {
    this.prototype = prototype
    this.keys = keys
  }
}

const DATE = Symbol('date')
const MAX_FORMS = 10_000
/** By prototype. */
const forms = new Map<unknown, Form>()
let formCount = 0

/** `isOrdinary` is false for an object with content besides its enumerable properties. Then there is no record. */
export function recordShape(
  value: object,
  isOrdinary: (object: object) => boolean,
): ShapeRecord | undefined {
  const record: unknown[] = []
  const objects = new Set([value])
  const add = (held: unknown) => {
    record.push(held)
    if (isObject(held)) objects.add(held)
  }
  // Iterating a Set includes what is added meanwhile.
  for (const object of objects) {
    if (types.isProxy(object) || !isOrdinary(object)) return undefined
    record.push(object)
    if (Array.isArray(object)) {
      if (!isPlainArray(object)) return undefined
      record.push(object.length)
      for (const item of object) add(item)
    } else if (types.isDate(object)) {
      if (!isPlainDate(object)) return undefined
      record.push(DATE, object.getTime())
    } else {
      const form = formOf(object)
      record.push(form)
      for (const key of form.keys) add(Reflect.get(object, key))
    }
  }
  return record
}

/** All objects in this part of the record have the content that was recorded. This runs for every object at every save. */
export function isUnchanged(record: ShapeRecord, start = 0, end = record.length): boolean {
  let at = start
  while (at < end) {
    const object = record[at]
    const form = record[at + 1]
    at += 2
    if (Array.isArray(object)) {
      if (object.length !== form || Object.getPrototypeOf(object) !== Array.prototype) return false
      for (let place = 0; place < object.length; place += 1) {
        const item: unknown = object[place]
        if (!Object.is(record[at], item)) return false
        if (item === undefined && !Object.hasOwn(object, place)) return false
        at += 1
      }
    } else if (form instanceof Form) {
      if (!isObject(object) || Object.getPrototypeOf(object) !== form.prototype) return false
      const { keys } = form
      let count = 0
      for (const key in object) {
        if (keys[count] !== key || !Object.is(record[at], object[key])) return false
        count += 1
        at += 1
      }
      if (count !== keys.length) return false
    } else {
      if (!isPlainDate(object) || !Object.is(record[at], object.getTime())) return false
      at += 1
    }
  }
  return true
}

/** Both records are of equal values, with the same objects shared, although the objects may be different ones. */
export function isSameShape(one: ShapeRecord, other: ShapeRecord): boolean {
  if (one.length !== other.length) return false
  const partners = new Map<unknown, unknown>()
  const pairs: [unknown, unknown][] = []
  for (let at = 0; at < one.length; ) {
    const [object, form] = [one[at], one[at + 1]]
    if (other[at + 1] !== form || Array.isArray(object) !== Array.isArray(other[at])) return false
    partners.set(object, other[at])
    at += 2
    const count = form instanceof Form ? form.keys.length : typeof form === 'number' ? form : 1
    for (const end = at + count; at < end; at += 1) {
      if (isObject(one[at])) pairs.push([one[at], other[at]])
      else if (!Object.is(one[at], other[at])) return false
    }
  }
  return pairs.every(([held, partner]) => partners.get(held) === partner)
}

/** No holes, and no properties beside the items. */
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

export function isObject(value: unknown): value is AnyRecord {
  return typeof value === 'object' && value !== null
}

/** The same form for all objects with this prototype and these keys in this order, found key by key. */
function formOf(object: object): Form {
  const prototype: unknown = Object.getPrototypeOf(object)
  let form = forms.get(prototype)
  if (form === undefined) {
    form = new Form(prototype, [])
    forms.set(prototype, form)
  }
  // Includes inherited keys: comparing them too is harmless, and nothing is faster than `for in`.
  for (const key in object) {
    let next: Form | undefined = form.longer.get(key)
    if (next === undefined) {
      next = new Form(prototype, [...form.keys, key])
      form.longer.set(key, next)
      formCount += 1
    }
    form = next
  }
  if (formCount > MAX_FORMS) {
    forms.clear()
    formCount = 0
  }
  return form
}

export function isPlainDate(value: unknown): value is Date {
  return (
    types.isDate(value) &&
    Object.getPrototypeOf(value) === Date.prototype &&
    Reflect.ownKeys(value).length === 0
  )
}
