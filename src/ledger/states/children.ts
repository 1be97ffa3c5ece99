// Which objects an object holds, and by which steps (as in ValuePath), for every kind that can be stored.
import { types } from 'node:util'
import type { ClassRegistry, ValuePath } from '../../model/index.js'

export type HeldObject = { readonly steps: ValuePath; readonly object: object }

const HIDDEN_IN_ERRORS: readonly string[] = ['name', 'message', 'stack', 'cause', 'errors']

/** What an instance of a registered class holds is not said: it has no path. */
export function objectsHeldBy(object: object, classes: ClassRegistry | undefined): HeldObject[] {
  const held: HeldObject[] = []
  const add = (value: unknown, steps: ValuePath) => {
    if (typeof value === 'object' && value !== null) held.push({ steps, object: value })
  }
  const prototype: unknown = Object.getPrototypeOf(object)
  if (typeof prototype === 'object' && prototype !== null && classes?.withPrototype(prototype))
    return held
  if (Array.isArray(object)) {
    addItems(object, add)
    return held
  }
  if (types.isMap(object)) {
    let entry = 0
    for (const [key, value] of object) {
      add(key, [entry, 'key'])
      add(value, [entry, 'value'])
      entry += 1
    }
    return held
  }
  if (types.isSet(object)) {
    let member = 0
    for (const value of object) {
      add(value, [member])
      member += 1
    }
    return held
  }
  for (const key of keysOf(object)) add(Reflect.get(object, key), [key])
  return held
}

function addItems(
  array: readonly unknown[],
  add: (value: unknown, steps: ValuePath) => void,
): void {
  for (let index = 0; index < array.length; index += 1) {
    const item = array[index]
    // From the first hole on by keys: an array with few items can be four thousand million long.
    if (item === undefined && !Object.hasOwn(array, index)) {
      for (const key of Object.keys(array))
        if (Number(key) > index) add(Reflect.get(array, key), [Number(key)])
      return
    }
    add(item, [index])
  }
}

function keysOf(object: object): readonly string[] {
  if (types.isNativeError(object) || object instanceof Error)
    return [...HIDDEN_IN_ERRORS, ...Object.keys(object)]
  if (types.isRegExp(object)) return ['lastIndex']
  // Their keys would be their bytes.
  if (ArrayBuffer.isView(object) || types.isAnyArrayBuffer(object)) return []
  return Object.keys(object)
}

/** The steps from `root` to `wanted`, going only through objects that may be entered. */
export function pathWithin(
  root: object,
  {
    wanted,
    classes,
    mayEnter,
  }: {
    readonly wanted: object
    readonly classes: ClassRegistry | undefined
    readonly mayEnter: (object: object) => boolean
  },
): ValuePath | undefined {
  const cameFrom = new Map<object, HeldObject | undefined>([[root, undefined]])
  for (const [object] of cameFrom) {
    if (object === wanted) return stepsTo(object, cameFrom)
    for (const { steps, object: inner } of objectsHeldBy(object, classes)) {
      if (!cameFrom.has(inner) && mayEnter(inner)) cameFrom.set(inner, { steps, object })
    }
  }
  return undefined
}

function stepsTo(wanted: object, cameFrom: ReadonlyMap<object, HeldObject | undefined>): ValuePath {
  const backwards: ValuePath[] = []
  for (let from = cameFrom.get(wanted); from !== undefined; from = cameFrom.get(from.object))
    backwards.push(from.steps)
  return backwards.toReversed().flat()
}
