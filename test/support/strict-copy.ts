// A deep copy and a strict comparison of values, independent of the stored form. Objects must correspond one to one, so sharing
// and cycles count.
import { types } from 'node:util'

/** An example of a registered class. */
export class Box {
  content: unknown
  constructor(content: unknown) {
    this.content = content
  }
}

export function strictCopy<T>(value: T): T
export function strictCopy(value: unknown): unknown {
  const copies = new Map<object, object>()
  const copy = (from: unknown): unknown => {
    if (typeof from !== 'object' || from === null) return from
    const known = copies.get(from)
    if (known !== undefined) return known
    const made = emptyLike(from)
    copies.set(from, made)
    if (from instanceof Map && made instanceof Map)
      for (const [key, item] of from) made.set(copy(key), copy(item))
    else if (from instanceof Set && made instanceof Set)
      for (const item of from) made.add(copy(item))
    else
      for (const key of Object.keys(from)) {
        const item = copy(Reflect.get(from, key))
        Object.defineProperty(made, key, {
          value: item,
          enumerable: true,
          writable: true,
          configurable: true,
        })
      }
    return made
  }
  return copy(value)
}

function emptyLike(from: object): object {
  if (Array.isArray(from)) return Object.assign([], { length: from.length })
  if (from instanceof Map) return new Map()
  if (from instanceof Set) return new Set()
  if (from instanceof Date) return new Date(from)
  if (from instanceof Box) return new Box(undefined)
  return Object.create(Object.getPrototypeOf(from))
}

/** The path of the first difference. */
export function difference(a: unknown, b: unknown): string | undefined {
  const there = new Map<object, object>()
  const back = new Map<object, object>()
  return firstDifference([a, b], (one, other, at) => {
    if (there.has(one) || back.has(other))
      return there.get(one) === other ? true : `${at}: identity`
    there.set(one, other)
    back.set(other, one)
    return false
  })
}

/** Like `difference`, but sharing may differ: every path must lead to the same content. */
export function differenceInContent(a: unknown, b: unknown): string | undefined {
  const compared = new Map<object, Set<object>>()
  return firstDifference([a, b], (one, other) => {
    const others = compared.get(one) ?? new Set()
    compared.set(one, others)
    const isKnown = others.has(other)
    others.add(other)
    return isKnown
  })
}

/** For states: all content must be equal, and within each item of a list also the identity of objects. */
export function stateDifference(a: unknown, b: unknown): string | undefined {
  const found = differenceInContent(a, b)
  if (found !== undefined) return found
  for (const [key, value] of Object.entries(Object(a))) {
    const list: unknown = Reflect.get(Object(b), key)
    if (!Array.isArray(value) || !Array.isArray(list)) continue
    for (const [place, item] of value.entries()) {
      const inside = difference(item, list[place])
      if (inside !== undefined) return `${key}[${place}]${inside}`
    }
  }
  return undefined
}

function firstDifference(
  [a, b]: readonly [unknown, unknown],
  /** True if the two were compared already; a text if they must differ. */
  isKnown: (one: object, other: object, at: string) => boolean | string,
): string | undefined {
  const compare = (one: unknown, other: unknown, at: string): string | undefined => {
    if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null)
      return Object.is(one, other) ? undefined : `${at}: ${String(one)} is not ${String(other)}`
    const known = isKnown(one, other, at)
    if (known !== false) return known === true ? undefined : known
    if (Object.getPrototypeOf(one) !== Object.getPrototypeOf(other)) return `${at}: prototype`
    const [mine, theirs] = [contentOf(one), contentOf(other)]
    if (mine.length !== theirs.length) return `${at}: ${mine.length} is not ${theirs.length}`
    for (const [place, item] of mine.entries()) {
      const found = compare(item, theirs[place], `${at}/${place}`)
      if (found !== undefined) return found
    }
    return undefined
  }
  return compare(a, b, '')
}

/** All parts of an object, as a list. */
function contentOf(object: object): unknown[] {
  const content: unknown[] = []
  if (types.isDate(object)) content.push(object.getTime())
  if (types.isMap(object)) for (const [key, value] of object) content.push(key, value)
  if (types.isSet(object)) content.push(...object)
  for (const key of Reflect.ownKeys(object)) {
    const { enumerable, writable } = Object.getOwnPropertyDescriptor(object, key) ?? {}
    content.push(key, enumerable, writable, Reflect.get(object, key))
  }
  return content
}
