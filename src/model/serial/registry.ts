// Which classes of the user's the serializer may take apart and make again. Closed by default: an
// instance of a class that is not here is refused, never stored as something it was not.
import { SavestateError } from '../errors.js'

export type ClassCodec<T> = {
  readonly type: abstract new (...args: never[]) => T
  /** All that is needed to make the instance again. It is stored like any other value. */
  toValue(instance: T): unknown
  /** Gets what `toValue` gave, read back. It is called once all of that is complete. */
  fromValue(value: unknown): T
}

export type RegisteredClass = ClassCodec<unknown> & { readonly name: string }

/** The classes whose instances a state may contain, and how each is stored. For `openStore({ classes })`. */
export class ClassRegistry {
  readonly #byName = new Map<string, RegisteredClass>()
  readonly #byPrototype = new Map<object, RegisteredClass>()

  /**
   * The name is stored with each instance, so it must not change. It holds for exactly this class: an
   * instance of a subclass is refused until the subclass is registered too. A class that is stored
   * anyway (a Date, an Error of one's own) is stored by its codec from then on.
   *
   * Throws BAD_INPUT for a name or a class that is registered already, for Object and Array, and for what is no codec.
   */
  register<T>(name: string, codec: ClassCodec<T>): void {
    if (typeof name !== 'string')
      throw badClass('The name that a class is registered under must be a string')
    const given: Partial<ClassCodec<T>> = codec ?? {}
    const prototype: unknown = typeof given.type === 'function' ? given.type.prototype : undefined
    if (typeof prototype !== 'object' || prototype === null)
      throw badClass(`What is registered as ${JSON.stringify(name)} is not a class`)
    if (typeof given.toValue !== 'function' || typeof given.fromValue !== 'function')
      throw badClass(
        `The class ${JSON.stringify(name)} is registered without toValue and fromValue`,
      )
    if (prototype === Object.prototype || prototype === Array.prototype)
      throw badClass(`${codec.type.name} cannot be registered: it is stored as it is`)
    if (this.#byName.has(name))
      throw badClass(`A class is already registered as ${JSON.stringify(name)}`)
    const earlier = this.#byPrototype.get(prototype)
    if (earlier !== undefined)
      throw badClass(`${codec.type.name} is already registered as ${JSON.stringify(earlier.name)}`)
    const registered: RegisteredClass = {
      name,
      type: codec.type,
      toValue: (instance: T) => codec.toValue(instance),
      fromValue: (value) => codec.fromValue(value),
    }
    this.#byName.set(name, registered)
    this.#byPrototype.set(prototype, registered)
  }

  /** The class whose instances have exactly this prototype. @internal */
  withPrototype(prototype: object): RegisteredClass | undefined {
    return this.#byPrototype.get(prototype)
  }

  /** @internal */
  named(name: string): RegisteredClass | undefined {
    return this.#byName.get(name)
  }
}

function badClass(message: string): SavestateError {
  return new SavestateError('BAD_INPUT', message, {
    hint: 'Register each class once, under a name of its own: `register(name, { type, toValue, fromValue })`.',
  })
}
