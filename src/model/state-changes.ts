// How a state differs from the one before it in an exported session. Pure: docs/sessions.md#export has the format.
import { SavestateError } from './errors.js'

/** `path` holds the keys that lead from the state to the object or list that changes. */
export type StateChange =
  | { readonly path: readonly string[]; readonly set: unknown }
  | { readonly path: readonly string[]; readonly remove: true }
  | {
      readonly path: readonly string[]
      /** How many items of the list stay; absent: all. */
      readonly keep?: number | undefined
      readonly append: readonly unknown[]
    }

/** A state and the changes made to it. It never changes what it was given: it copies a container before the first change. */
export class ChangingState {
  #root: { value: unknown } | undefined
  /** Containers that were made here. */
  readonly #own = new WeakSet<object>()

  get value(): unknown {
    return this.#root?.value
  }

  replace(value: unknown): void {
    this.#root = { value }
  }

  /** Throws BAD_INPUT for a change that does not fit the state. */
  apply(change: StateChange): void {
    if (this.#root === undefined) throw misfit('there is no state before it', change)
    if ('append' in change) {
      const list = this.#ownAt(change, change.path)
      if (!Array.isArray(list)) throw misfit('there is no list', change)
      const { keep = list.length } = change
      if (keep > list.length) throw misfit(`the list has only ${list.length} items`, change)
      list.length = keep
      for (const item of change.append) list.push(item)
      return
    }
    const key = change.path.at(-1)
    const object = this.#ownAt(change, change.path.slice(0, -1))
    if (key === undefined || !isObject(object) || Array.isArray(object) || !this.#own.has(object))
      throw misfit('there is no object with this key', change)
    if ('set' in change) define(object, key, change.set)
    else if (!Reflect.deleteProperty(object, key)) throw misfit('the key cannot be removed', change)
  }

  /** The value at a path. A list or plain object is copied first, with all above it, so that it may be changed. */
  #ownAt(change: StateChange, path: readonly string[]): unknown {
    let holder: object | undefined = this.#root
    let key = 'value'
    for (const next of [...path, undefined]) {
      if (holder === undefined || !Object.hasOwn(holder, key))
        throw misfit('there is no such key', change)
      const value: unknown = Reflect.get(holder, key)
      if (!isObject(value)) return value
      const own = this.#own.has(value) ? value : this.#copy(value)
      if (own !== value) define(holder, key, own)
      if (next === undefined) return own
      holder = Array.isArray(own) || !this.#own.has(own) ? undefined : own
      key = next
    }
    return undefined
  }

  #copy(value: object): object {
    // A Map, a Date or an instance of a class is never changed, only replaced.
    if (!Array.isArray(value) && Object.getPrototypeOf(value) !== Object.prototype) return value
    const copy = Array.isArray(value) ? [...value] : { ...value }
    this.#own.add(copy)
    return copy
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** Also for a key `__proto__`. */
function define(object: object, key: string, value: unknown): void {
  Object.defineProperty(object, key, {
    value,
    enumerable: true,
    writable: true,
    configurable: true,
  })
}

function misfit(why: string, { path }: StateChange): SavestateError {
  return new SavestateError(
    'BAD_INPUT',
    `A change of ${JSON.stringify(path)} does not fit the state before it: ${why}`,
  )
}
