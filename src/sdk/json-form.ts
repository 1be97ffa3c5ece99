// Values that JSON cannot express (dates, maps, big integers, …) as JSON, in the tagged form that states are stored in.
import { type ClassRegistry, decodeValue, encodeValue } from '../model/index.js'

export type JsonForm = {
  /** Plain JSON values are unchanged; every other value is an object with the one key `$`. */
  readonly json: unknown
  /** No tag is in it. */
  readonly isPlain: boolean
}

/** The value as JSON that `fromJsonForm` reads. Throws STATE_UNSTORABLE, with the path, for what it cannot restore. */
export function toJsonForm(value: unknown, classes?: ClassRegistry): JsonForm {
  const { text, plain } = encodeValue(value, classes === undefined ? {} : { classes })
  return { json: JSON.parse(text), isPlain: plain }
}

/** The value that `toJsonForm` was given. Throws STATE_UNREADABLE for tags it does not know. */
export function fromJsonForm(json: unknown, classes?: ClassRegistry): unknown {
  return decodeValue(JSON.stringify(json), classes === undefined ? {} : { classes })
}
