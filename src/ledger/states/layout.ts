// Divides a state into elements: by keys, lists and single values. A value that is not a plain object or array is one element, so that
// the serializer either keeps it exactly or rejects it.
import { types } from 'node:util'
import { isPlainArray } from '../../base/index.js'
import type { ValuePath } from '../../model/index.js'
import type { Primitive } from './state-body.js'

/** Values that become elements, in order. */
export type Spread = {
  readonly kind: 'list' | 'entries' | 'value'
  readonly path: ValuePath
  readonly values: readonly unknown[]
  /** Only for entries. */
  readonly keys: readonly string[] | undefined
  /** The objects that contain the values, outermost first. */
  readonly containers: readonly object[]
}

export type Layout =
  | { readonly kind: 'primitive'; readonly value: Primitive }
  | Spread
  | { readonly kind: 'object'; readonly entries: readonly (readonly [string, Layout])[] }

/** Longer ones become elements, so that they are stored once. */
const MAX_PRIMITIVE_CHARS = 64
/** An object with more keys is a list of its entries: the row of the state must stay small. */
const MAX_KEYS = 32
/** The state itself may have more: under one of its keys is probably a long list. */
const MAX_ROOT_KEYS = 256
/** An object is divided if it holds an array of at least this length. */
const MIN_ITEMS = 16
const MAX_DEPTH = 4

export function layOut(state: unknown): Layout {
  return layOutValue(state, { path: [], containers: [] })
}

function layOutValue(
  value: unknown,
  { path, containers }: Pick<Spread, 'path' | 'containers'>,
): Layout {
  if (isSmallPrimitive(value)) return { kind: 'primitive', value }
  const whole: Layout = { kind: 'value', path, values: [value], keys: undefined, containers }
  // The encoder rejects an object that contains itself.
  if (typeof value !== 'object' || value === null || containers.includes(value)) return whole
  const inside = [...containers, value]
  if (Array.isArray(value)) {
    if (types.isProxy(value) || !isPlainArray(value)) return whole
    return { kind: 'list', path, values: value, keys: undefined, containers: inside }
  }
  const kind = kindOf(value, path.length)
  if (kind === 'value') return whole
  const entries = Object.entries(value)
  if (kind === 'entries')
    return {
      kind,
      path,
      values: entries.map(([, inner]) => inner),
      keys: entries.map(([key]) => key),
      containers: inside,
    }
  return {
    kind,
    entries: entries.map(([key, inner]) => [
      key,
      layOutValue(inner, { path: [...path, key], containers: inside }),
    ]),
  }
}

function kindOf(value: object, depth: number): 'object' | 'entries' | 'value' {
  if (!isPlainObject(value)) return 'value'
  const keyCount = Object.keys(value).length
  if (depth === 0) return keyCount > MAX_ROOT_KEYS ? 'entries' : 'object'
  if (keyCount > MAX_KEYS) return 'entries'
  const isWorthIt =
    depth < MAX_DEPTH && Object.values(value).some((inner) => isSplit(inner, depth + 1))
  return isWorthIt ? 'object' : 'value'
}

function isSplit(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.length >= MIN_ITEMS
  return kindOf(value, depth) !== 'value'
}

function isPlainObject(value: object): boolean {
  return (
    Object.getPrototypeOf(value) === Object.prototype &&
    !types.isProxy(value) &&
    // `arguments` has the prototype of a plain object.
    Object.prototype.toString.call(value) === '[object Object]' &&
    Object.getOwnPropertySymbols(value).length === 0
  )
}

function isSmallPrimitive(value: unknown): value is Primitive {
  switch (typeof value) {
    case 'string':
      return (
        value.length < MAX_PRIMITIVE_CHARS && JSON.stringify(value).length <= MAX_PRIMITIVE_CHARS
      )
    case 'number':
      return Number.isFinite(value) && !Object.is(value, -0)
    case 'boolean':
      return true
    default:
      return value === null
  }
}
