// The path of a value: the keys from the root of the state to it, for error messages.

/**
 * A string is a property of an object (including `cause` and `errors` of an Error). A number is an array index, or the position
 * in a Set or Map; for a Map, `'key'` or `'value'` follows. Values inside instances of registered classes have no path.
 */
export type ValuePath = readonly (string | number)[]

const MAX_SHOWN_CHARS = 300

/** As in code: `messages[3].tool.run`, `headers["x-id"]`, `cache[0].key`. */
export function pathToText(path: ValuePath): string {
  // Created here, not at every start of the program: it takes half a millisecond.
  const name = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u
  return path
    .map((step, place) => {
      if (typeof step === 'number' || !name.test(step)) return `[${JSON.stringify(step)}]`
      return place === 0 ? step : `.${step}`
    })
    .join('')
}

/** The path for a message: never empty, and shortened if it is long. */
export function shownPath(path: ValuePath): string {
  if (path.length === 0) return 'the value'
  const text = pathToText(path)
  if (text.length <= MAX_SHOWN_CHARS) return text
  return `${text.slice(0, MAX_SHOWN_CHARS / 2)}…${text.slice(-MAX_SHOWN_CHARS / 2)}`
}
