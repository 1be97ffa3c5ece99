// What a value was made of when it was serialized: its objects, their keys and what stood under them. To compare with
// it takes a hundredth of the time of serializing again, and sees a change that was made in place.
import { types } from 'node:util'

/** The value, then each object in it once, followed by what it held. */
export type Sight = { readonly slots: readonly unknown[]; readonly shape: Shape }

/** For each object its keys, or how many items it has. The same for all values of one form. */
export type Shape = readonly (readonly string[] | number)[]

const NO_OBJECT: Shape = []
/** There are few forms; where there are many, sharing them is not worth the memory. */
const MAX_SHAPES = 1000

export class Sights {
  readonly #shapes = new Map<string, Shape>()

  /** Undefined for a value that has more to it than its enumerable properties: it must be serialized each time. */
  of(value: unknown): Sight | undefined {
    if (!isObject(value)) return { slots: [value], shape: NO_OBJECT }
    const slots: unknown[] = [value]
    const shape: (readonly string[] | number)[] = []
    const objects = new Set([value])
    // A Set goes on with what is added while it is walked.
    for (const object of objects) {
      if (!isOrdinary(object)) return undefined
      slots.push(object)
      const start = slots.length
      const keys = addHeld(slots, object)
      shape.push(keys ?? slots.length - start)
      for (let at = start; at < slots.length; at += 1) {
        const held = slots[at]
        if (isObject(held)) objects.add(held)
      }
    }
    return { slots, shape: this.#shared(shape) }
  }

  #shared(shape: Shape): Shape {
    const form = JSON.stringify(shape)
    const known = this.#shapes.get(form)
    if (known !== undefined) return known
    if (this.#shapes.size >= MAX_SHAPES) this.#shapes.clear()
    this.#shapes.set(form, shape)
    return shape
  }
}

/** Compares values with their sights, one after the other in a list of slots. */
export class SightReader {
  readonly #slots: readonly unknown[]
  /** Where the next sight begins. */
  at = 0

  constructor(slots: readonly unknown[]) {
    this.#slots = slots
  }

  /** Whether it is the same value, and everything in it as it was. `at` means nothing afterwards if not. */
  isAsSeen(value: unknown, shape: Shape): boolean {
    const slots = this.#slots
    let { at } = this
    if (slots[at] !== value) return false
    at += 1
    // This runs for every message of a thread at every put: see docs/langgraph.md#what-it-costs.
    for (const keys of shape) {
      const object = slots[at]
      at += 1
      if (typeof keys === 'number') {
        if (!Array.isArray(object) || object.length !== keys) return false
        for (let place = 0; place < keys; place += 1) {
          if (slots[at] !== object[place]) return false
          at += 1
        }
        continue
      }
      if (!isObject(object)) return false
      let place = 0
      for (const key in object) {
        if (keys[place] !== key || slots[at] !== object[key]) return false
        place += 1
        at += 1
      }
      if (place !== keys.length) return false
    }
    this.at = at
    return true
  }
}

/** The keys; undefined for an array, of which only items are serialized. */
function addHeld(
  slots: unknown[],
  object: Readonly<Record<string, unknown>>,
): readonly string[] | undefined {
  if (Array.isArray(object)) {
    for (const item of object) slots.push(item)
    return undefined
  }
  const keys: string[] = []
  // Also what is inherited: to compare that too does no harm, and nothing is quicker than `for in`.
  for (const key in object) {
    keys.push(key)
    slots.push(object[key])
  }
  return keys
}

/** An object of which the serializer sees nothing but its enumerable properties. */
function isOrdinary(object: Readonly<Record<string, unknown>>): boolean {
  // The classes of LangChain make their JSON from their properties. What others do there cannot be known.
  if (typeof object['toJSON'] === 'function' && object['lc_serializable'] !== true) return false
  return !(
    object instanceof Map ||
    object instanceof Set ||
    object instanceof RegExp ||
    object instanceof Error ||
    ArrayBuffer.isView(object) ||
    types.isBoxedPrimitive(object) ||
    types.isProxy(object)
  )
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
