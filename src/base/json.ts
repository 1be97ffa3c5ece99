// JSON from outside: its shape is not known.

export type Fields = Readonly<Record<string, unknown>>

/** True for an object with named fields: not null, not an array. */
export function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value as a record; an empty one if it is something else. */
export function fieldsOf(value: unknown): Fields {
  return isRecord(value) ? value : {}
}

/** Undefined if the text is not JSON, and for an undefined text. */
export function tryParseJson(text: string | undefined): unknown {
  if (text === undefined) return undefined
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
