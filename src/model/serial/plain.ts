// A fast check whether JSON.stringify and JSON.parse alone restore a value. Nearly all elements of a state are such messages
// and never need the slower encoder.

/** Deeper values take the slow path, which does not recurse. */
const MAX_QUICK_DEPTH = 100

/** True only if the value is JSON data in which no object occurs twice and none needs a tag. False may mean unsure. */
export function isPlainElement(value: unknown): boolean {
  // JSON.stringify would call a toJSON that was added to a prototype.
  if ('toJSON' in Array.prototype) return false
  return isPlain(value, new Set(), 0)
}

function isPlain(value: unknown, seen: Set<object>, depth: number): boolean {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return true
    case 'number':
      return Number.isFinite(value) && !Object.is(value, -0)
    case 'object':
      break
    default:
      return false
  }
  if (value === null) return true
  if (depth > MAX_QUICK_DEPTH || seen.has(value)) return false
  seen.add(value)
  if (Array.isArray(value)) {
    if (Object.getPrototypeOf(value) !== Array.prototype) return false
    for (let place = 0; place < value.length; place += 1) {
      if (!isPlain(value[place], seen, depth + 1)) return false
    }
    // There are no holes, because undefined is not plain. So any surplus key is an extra property.
    return Object.keys(value).length === value.length && hasNoSymbol(value)
  }
  if (!isRecord(value)) return false
  // Faster than Object.keys. Keys inherited from a modified Object.prototype only make the result unsure.
  for (const key in value) {
    if (key === '$' || !isPlain(value[key], seen, depth + 1)) return false
  }
  return hasNoSymbol(value)
}

function isRecord(value: object): value is Record<string, unknown> {
  return Object.getPrototypeOf(value) === Object.prototype
}

function hasNoSymbol(value: object): boolean {
  return Object.getOwnPropertySymbols(value).length === 0
}
