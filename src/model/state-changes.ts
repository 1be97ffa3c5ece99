// How a state differs from the one before it in an exported session. Pure. The format is in docs/internals/sessions.md#export.
import { isObject } from '../base/index.js'
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

/** Applies changes to a state without modifying the input: each container is copied before its first change. */
export class ChangingState {
  #root: { value: unknown } | undefined
  /** Containers that were copied here. */
  readonly #own = new WeakSet<object>()

  get value(): unknown {
    return this.#root?.value
  }

  replace(value: unknown): void {
    this.#root = { value }
  }

  /** Throws BAD_INPUT for a change that does not fit the state. */
  apply(change: StateChange): void {
    if (this.#root === undefined) throw changeError('there is no state before it', change)
    if ('append' in change) {
      const list = this.#ownAt(change, change.path)
      if (!Array.isArray(list)) throw changeError('there is no list', change)
      const { keep = list.length } = change
      if (keep > list.length) throw changeError(`the list has only ${list.length} items`, change)
      list.length = keep
      for (const item of change.append) list.push(item)
      return
    }
    const key = change.path.at(-1)
    const object = this.#ownAt(change, change.path.slice(0, -1))
    if (key === undefined || !isObject(object) || Array.isArray(object) || !this.#own.has(object))
      throw changeError('there is no object with this key', change)
    if ('set' in change) define(object, key, change.set)
    else if (!Reflect.deleteProperty(object, key))
      throw changeError('the key cannot be removed', change)
  }

  /** The value at a path. Copies lists and plain objects on the way, so that the caller may modify them. */
  #ownAt(change: StateChange, path: readonly string[]): unknown {
    let holder: object | undefined = this.#root
    let key = 'value'
    for (const next of [...path, undefined]) {
      if (holder === undefined || !Object.hasOwn(holder, key))
        throw changeError('there is no such key', change)
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
    // Maps, Dates and class instances are only replaced as a whole.
    if (!Array.isArray(value) && Object.getPrototypeOf(value) !== Object.prototype) return value
    const copy = Array.isArray(value) ? [...value] : { ...value }
    this.#own.add(copy)
    return copy
  }
}

/** Handles the key `__proto__` too. */
function define(object: object, key: string, value: unknown): void {
  Object.defineProperty(object, key, {
    value,
    enumerable: true,
    writable: true,
    configurable: true,
  })
}

function changeError(why: string, { path }: StateChange): SavestateError {
  return new SavestateError(
    'BAD_INPUT',
    `A change of ${JSON.stringify(path)} does not fit the state before it: ${why}`,
  )
}
