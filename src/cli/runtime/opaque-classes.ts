// The command line cannot know the classes that agents keep in their states. It reads an instance as what
// it was made of, and writes it under the same name again, so that nothing is lost on the way through.
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

/** One for the whole process: what it has read it can write. */
export const anyClasses = new AnyClasses()

export function jsonForm(value: unknown): JsonForm {
  return toJsonForm(value, anyClasses)
}

/** For `--json`: nothing that JSON has no words for is lost. What was read without its key says so. */
export function jsonOf(value: unknown): unknown {
  if (value instanceof SealedValue) return value.toJSON()
  return value === undefined ? null : jsonForm(value).json
}

export function valueOf(json: unknown): unknown {
  return fromJsonForm(withoutBigInts(json), anyClasses)
}

/** Where there are tags, a BigInt has one: without it is a number that is written as an integer. */
function withoutBigInts(json: unknown): unknown {
  const numbers = (_key: string, value: unknown) =>
    typeof value === 'bigint' ? Number(value) : value
  return JSON.parse(JSON.stringify(json, numbers))
}
