// How each kind of object is written: text, slots with values, text. Anything outside the slots would be lost, so extra
// properties are refused. Getters and proxies are read through. Non-enumerable properties and frozenness are ignored.
import { isDeepStrictEqual, types } from 'node:util'
import type { ValuePath } from './path.js'
import {
  type Refusal,
  refuseExtra,
  refuseMemory,
  refuseObject,
  refuseSymbolKey,
} from './refusal.js'
import type { ClassRegistry, RegisteredClass } from './registry.js'
import { BYTES_MAKERS, builtinName, ERROR_MAKERS, HIDDEN_IN_ERRORS } from './tags.js'

/** A value inside another: the text before it, and the path to it. */
export type Slot = { readonly before: string; readonly steps: ValuePath; readonly value: unknown }

export type Shape = {
  readonly open: string
  readonly slots: readonly Slot[]
  readonly close: string
  readonly isTagged: boolean
  /** For an instance of a registered class: its contents must be complete before it can be created. */
  readonly ofClass?: string
}

export function shapeOf(object: object, classes: ClassRegistry | undefined): Shape | Refusal {
  const prototype: unknown = Object.getPrototypeOf(object)
  if (prototype === null) return withoutSymbols(object, recordShape(object, 'Bare'))
  if (typeof prototype !== 'object') return refuseObject(object)
  const registered = classes?.withPrototype(prototype)
  if (registered !== undefined) return classShape(object, registered)
  return withoutSymbols(object, builtinShape(object, builtinName(prototype) ?? ''))
}

function withoutSymbols(object: object, shape: Shape | Refusal): Shape | Refusal {
  const symbol = Object.getOwnPropertySymbols(object).find((key) => isEnumerable(object, key))
  return symbol === undefined || 'reason' in shape ? shape : refuseSymbolKey(symbol)
}

function builtinShape(object: object, name: string): Shape | Refusal {
  if (name === 'Object') return recordShape(object, undefined)
  if (name === 'Array' && Array.isArray(object)) return arrayShape(object)
  if (BYTES_MAKERS.has(name)) return bytesShape(object, name)
  if (types.isNativeError(object) || object instanceof Error) return errorShape(object)
  const shape = ownedShape(object, name)
  const [extra] = shape === undefined ? [] : Object.keys(object)
  if (extra !== undefined) return refuseExtra(name, extra)
  return shape ?? refuseObject(object)
}

function ownedShape(object: object, name: string): Shape | undefined {
  if (name === 'Map' && types.isMap(object)) {
    const slots = [...object].flatMap(([key, value], entry) => [
      { before: ',', steps: [entry, 'key'], value: key },
      { before: ',', steps: [entry, 'value'], value },
    ])
    return taggedShape('Map', [], slots)
  }
  if (name === 'Set' && types.isSet(object)) {
    const slots = [...object].map((value, member) => ({ before: ',', steps: [member], value }))
    return taggedShape('Set', [], slots)
  }
  if (name === 'Date' && types.isDate(object)) return taggedShape('Date', [object.getTime()])
  if (name === 'URL' && object instanceof URL) return taggedShape('URL', [object.href])
  if (name === 'RegExp' && types.isRegExp(object)) {
    const slot = { before: ',', steps: ['lastIndex'], value: object.lastIndex }
    return taggedShape('RegExp', [object.source, object.flags], [slot])
  }
  return undefined
}

function recordShape(object: object, tag: 'Bare' | undefined): Shape | Refusal {
  // `arguments`, `Math` and modules look like plain objects, but their toStringTag differs.
  if (Object.prototype.toString.call(object) !== '[object Object]') return refuseObject(object)
  const slots = entriesOf(object).map(([key, value], place) => ({
    before: `${place === 0 ? '' : ','}${JSON.stringify(key)}:`,
    steps: [key],
    value,
  }))
  const tagName = tag ?? (Object.hasOwn(object, '$') ? 'Object' : undefined)
  if (tagName === undefined) return { open: '{', slots, close: '}', isTagged: false }
  return { open: `{"$":["${tagName}",{`, slots, close: '}]}', isTagged: true }
}

/** In the order of an ordinary object, because that is the order after decoding. */
function entriesOf(object: object): [string, unknown][] {
  const entries = Object.entries(object)
  return types.isProxy(object) ? Object.entries(Object.fromEntries(entries)) : entries
}

function arrayShape(array: readonly unknown[]): Shape | Refusal {
  const keys = Object.keys(array)
  // Index keys come first, so the last key shows whether there is an extra property.
  const last = keys.at(-1)
  if (last !== undefined && !isIndex(last, array.length)) return refuseExtra('array', last)
  if (keys.length !== array.length) {
    const slots = keys.map((key) => {
      const index = Number(key)
      return { before: `,${index},`, steps: [index], value: array[index] }
    })
    return taggedShape('Array', [array.length], slots)
  }
  const slots = array.map((value, index) => ({
    before: index === 0 ? '' : ',',
    steps: [index],
    value,
  }))
  return { open: '[', slots, close: ']', isTagged: false }
}

function isIndex(key: string, length: number): boolean {
  const index = Number(key)
  return Number.isInteger(index) && index >= 0 && index < length && String(index) === key
}

function bytesShape(object: object, name: string): Shape | Refusal {
  const bytes = bytesOf(object)
  if (!Buffer.isBuffer(bytes)) return bytes
  const extra = extraOf(object)
  return extra === undefined
    ? taggedShape(name, [bytes.toString('base64')])
    : refuseExtra(name, extra)
}

/** The bytes of a buffer or view, not copied. Shared or resizable memory is refused: a copy would behave differently. */
function bytesOf(object: object): Buffer | Refusal {
  const view = ArrayBuffer.isView(object) ? object : undefined
  const memory: unknown = view === undefined ? object : view.buffer
  if (view !== undefined && types.isSharedArrayBuffer(memory))
    return refuseMemory('is shared between threads')
  if (!types.isArrayBuffer(memory)) return refuseObject(object)
  if ('resizable' in memory && memory.resizable === true) return refuseMemory('can be resized')
  if (isDetached(memory)) return refuseMemory('was given away to another thread')
  return Buffer.from(memory, view?.byteOffset ?? 0, view?.byteLength ?? memory.byteLength)
}

/** The name of an extra property, if there is one. */
function extraOf(object: object): string | undefined {
  // Object.keys would create a string per index, which takes seconds for a few megabytes. This comparison is native.
  if (types.isTypedArray(object) && isDeepStrictEqual(object, object.subarray())) return undefined
  return Object.keys(object).findLast((key) => !/^\d+$/.test(key))
}

function isDetached(memory: ArrayBuffer): boolean {
  if (memory.byteLength > 0) return false
  try {
    return new Uint8Array(memory).length > 0
  } catch (error) {
    if (error instanceof TypeError) return true
    throw error
  }
}

/** An Error of an unregistered class is restored as the nearest built-in class. */
function errorShape(error: Error): Shape {
  const kind = errorKindOf(error)
  const usual = new Map([
    ['name', kind === 'DOMException' ? 'Error' : kind],
    ['message', ''],
  ])
  const hidden = HIDDEN_IN_ERRORS.filter((key) =>
    Object.hasOwn(error, key)
      ? !isEnumerable(error, key)
      : Reflect.get(error, key) !== usual.get(key),
  )
  const slots = [...hidden, ...Object.keys(error)].map((key) => ({
    before: `,${JSON.stringify(key)},`,
    steps: [key],
    value: Reflect.get(error, key),
  }))
  return taggedShape('Error', [kind, hidden.length], slots)
}

function errorKindOf(error: Error): string {
  let prototype: unknown = Object.getPrototypeOf(error)
  while (typeof prototype === 'object' && prototype !== null) {
    const name = builtinName(prototype)
    if (name !== undefined && ERROR_MAKERS.has(name)) return name
    prototype = Object.getPrototypeOf(prototype)
  }
  return 'Error'
}

function classShape(object: object, registered: RegisteredClass): Shape | Refusal {
  const { name } = registered
  try {
    const slot = { before: ',', steps: [], value: registered.toValue(object) }
    return { ...taggedShape('Class', [name], [slot]), ofClass: name }
  } catch (cause) {
    return {
      reason: `is an instance of ${name}, whose toValue failed`,
      hint: 'See the cause, and correct toValue.',
      cause,
    }
  }
}

function taggedShape(
  name: string,
  first: readonly (string | number)[],
  slots: readonly Slot[] = [],
): Shape {
  const open = `{"$":${JSON.stringify([name, ...first]).slice(0, -1)}`
  return { open, slots, close: ']}', isTagged: true }
}

function isEnumerable(object: object, key: PropertyKey): boolean {
  return Object.prototype.propertyIsEnumerable.call(object, key)
}
