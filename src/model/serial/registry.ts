// The user classes that the serializer may store. Closed by default: an instance of an unregistered class is refused, never
// stored as something else.
import { SavestateError } from '../errors.js'

export type ClassCodec<T> = {
  readonly type: abstract new (...args: never[]) => T
  /** Everything needed to recreate the instance. It is stored like any other value. */
  toValue(instance: T): unknown
  /** Receives what `toValue` returned, completely decoded. */
  fromValue(value: unknown): T
}

export type RegisteredClass = ClassCodec<unknown> & { readonly name: string }

/** The classes whose instances a state may contain, and how each is stored. For `openStore({ classes })`. */
export class ClassRegistry {
  readonly #byName = new Map<string, RegisteredClass>()
  readonly #byPrototype = new Map<object, RegisteredClass>()

  /**
   * The name is stored with each instance, so it must not change. It applies to exactly this class: an instance of a subclass
   * is refused until the subclass is registered. Registering a class that is storable anyway (Date, a custom Error) makes its
   * codec take over.
   *
   * Throws BAD_INPUT if the name or class is already registered, for Object and Array, and if `codec` is not a codec.
   */
  register<T>(name: string, codec: ClassCodec<T>): void {
    if (typeof name !== 'string')
      throw badClass('The name that a class is registered under must be a string')
    const given: Partial<ClassCodec<T>> = codec ?? {}
    const prototype: unknown = typeof given.type === 'function' ? given.type.prototype : undefined
    if (typeof prototype !== 'object' || prototype === null)
      throw badClass(`The value registered as ${JSON.stringify(name)} is not a class`)
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
