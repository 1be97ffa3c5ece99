// The command line does not know the classes of the values in agent states. It reads an instance as its serialized value,
// and writes that value under the same class name, so nothing is lost.
import {
  ClassRegistry,
  fromJsonForm,
  type JsonForm,
  SealedValue,
  toJsonForm,
} from '../../internal.js'

class AnyClasses extends ClassRegistry {
  override named(name: string): ReturnType<ClassRegistry['named']> {
    if (super.named(name) === undefined) {
      const type = class {
        constructor(readonly value: unknown) {}
      }
      const fromValue = (value: unknown) => new type(value)
      this.register(name, { type, toValue: ({ value }) => value, fromValue })
    }
    return super.named(name)
  }
}

/** One for the whole process, so that it can write every class that it has read. */
export const anyClasses = new AnyClasses()

export function jsonForm(value: unknown): JsonForm {
  return toJsonForm(value, anyClasses)
}

/** For `--json`: values that JSON lacks are tagged, and values that were read without their key say so. */
export function jsonOf(value: unknown): unknown {
  if (value instanceof SealedValue) return value.toJSON()
  return value === undefined ? null : jsonForm(value).json
}

export function valueOf(json: unknown): unknown {
  return fromJsonForm(withoutBigInts(json), anyClasses)
}

/** A tagged form tags its BigInts; any other bigint is a number that was written as an integer. */
function withoutBigInts(json: unknown): unknown {
  const numbers = (_key: string, value: unknown) =>
    typeof value === 'bigint' ? Number(value) : value
  return JSON.parse(JSON.stringify(json, numbers))
}
