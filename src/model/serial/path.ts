// Where a value stands in the state: the steps from the state's root to it. Error messages show a path
// as text; a far reference stores it as JSON and follows it again when the state is read.

/**
 * A string is a property of an object (`cause` and `errors` of an Error too). A number is an index of an
 * array, a member of a Set, or an entry of a Map, counted in their order; after an entry comes the step
 * `'key'` or `'value'`. What is inside an instance of a registered class has no path.
 */
export type ValuePath = readonly (string | number)[]

const MAX_SHOWN_CHARS = 300

/** As in code: `messages[3].tool.run`, `headers["x-id"]`, `cache[0].key`. */
export function pathToText(path: ValuePath): string {
  // Made here and not at every start of the program: it takes half a millisecond.
  const name = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u
  return path
    .map((step, place) => {
      if (typeof step === 'number' || !name.test(step)) return `[${JSON.stringify(step)}]`
      return place === 0 ? step : `.${step}`
    })
    .join('')
}

/** The path for a message: never empty, never longer than a person would read. */
export function shownPath(path: ValuePath): string {
  if (path.length === 0) return 'the value'
  const text = pathToText(path)
  if (text.length <= MAX_SHOWN_CHARS) return text
  return `${text.slice(0, MAX_SHOWN_CHARS / 2)}…${text.slice(-MAX_SHOWN_CHARS / 2)}`
}

/** What stands at the path; undefined when nothing does. Follows own properties only. */
export function resolvePath(root: unknown, path: ValuePath): unknown {
  let value = root
  for (let place = 0; place < path.length; place += 1) {
    const step = path[place]
    if (typeof value !== 'object' || value === null || step === undefined) return undefined
    if (value instanceof Map && typeof step === 'number') {
      place += 1
      value = sideOf(nth(value.entries(), step), path[place])
    } else if (value instanceof Set && typeof step === 'number') {
      value = nth(value.values(), step)
    } else {
      value = Object.hasOwn(value, step) ? Reflect.get(value, step) : undefined
    }
  }
  return value
}

function nth<Item>(items: Iterable<Item>, wanted: number): Item | undefined {
  let place = 0
  for (const item of items) {
    if (place === wanted) return item
    place += 1
  }
  return undefined
}

function sideOf(
  entry: readonly [unknown, unknown] | undefined,
  side: string | number | undefined,
): unknown {
  if (side === 'key') return entry?.[0]
  return side === 'value' ? entry?.[1] : undefined
}
