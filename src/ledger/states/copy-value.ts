// Copies a value. Plain data is copied object by object, which shares the strings. All other values are encoded and decoded.
import { types } from 'node:util'
import { isPlainArray, isPlainDate } from '../../base/index.js'
import { decodeValue, type EncodeOptions, encodeValue } from '../../model/index.js'

/** Deeper values are encoded: the encoder does not recurse. */
const MAX_DEPTH = 100
const NOT_PLAIN = Symbol('not plain')

/** Returns the value that a read would return after a write of this one. Throws STATE_UNSTORABLE. */
export function copyValue(value: unknown, options: EncodeOptions = {}): unknown {
  const { classes, containers = [] } = options
  const copiesDates = classes?.withPrototype(Date.prototype) === undefined
  const copy = copyPlain(value, { copies: new Map(), copiesDates, containers, depth: 0 })
  return copy === NOT_PLAIN ? decodeValue(encodeValue(value, options).text, { classes }) : copy
}

type Copying = {
  /** The copies made so far, so that shared objects stay shared. */
  readonly copies: Map<object, object>
  readonly copiesDates: boolean
  readonly containers: readonly object[]
  depth: number
}

function copyPlain(value: unknown, copying: Copying): unknown {
  if (typeof value === 'function' || typeof value === 'symbol') return NOT_PLAIN
  if (typeof value !== 'object' || value === null) return value
  const { copies, copiesDates, containers } = copying
  const known = copies.get(value)
  if (known !== undefined) return known
  if (types.isProxy(value) || copying.depth > MAX_DEPTH) return NOT_PLAIN
  if (containers.includes(value)) return NOT_PLAIN
  if (isPlainDate(value)) return copiesDates ? keep(copying, value, new Date(value)) : NOT_PLAIN
  copying.depth += 1
  const copy = Array.isArray(value) ? copyArray(value, copying) : copyObject(value, copying)
  copying.depth -= 1
  return copy
}

function copyArray(array: readonly unknown[], copying: Copying): unknown {
  if (!isPlainArray(array)) return NOT_PLAIN
  const copy: unknown[] = keep(copying, array, [])
  for (const item of array) {
    const copied = copyPlain(item, copying)
    if (copied === NOT_PLAIN) return NOT_PLAIN
    copy.push(copied)
  }
  return copy
}

function copyObject(object: object, copying: Copying): unknown {
  const isPlain =
    Object.getPrototypeOf(object) === Object.prototype &&
    Object.prototype.toString.call(object) === '[object Object]' &&
    Object.getOwnPropertySymbols(object).length === 0
  if (!isPlain) return NOT_PLAIN
  const copy: Record<string, unknown> = keep(copying, object, {})
  for (const [key, value] of Object.entries(object)) {
    const copied = copyPlain(value, copying)
    // Assigning to __proto__ would set the prototype.
    if (copied === NOT_PLAIN || key === '__proto__') return NOT_PLAIN
    copy[key] = copied
  }
  return copy
}

function keep<Copy extends object>({ copies }: Copying, object: object, copy: Copy): Copy {
  copies.set(object, copy)
  return copy
}
