// Bounds results, because they go into the context of a model, and a folder can have a hundred thousand files.

const MAX_ITEMS = 500
const MAX_CHARS = 40_000

/** Truncates long lists and texts; sets `cut` if it did. */
export function bounded(result: object): object {
  let isCut = false
  const visit = (value: unknown): unknown => {
    if (typeof value === 'string') {
      if (value.length <= MAX_CHARS) return value
      isCut = true
      return `${value.slice(0, MAX_CHARS)}…`
    }
    if (value instanceof Date) return value.toISOString()
    if (Array.isArray(value)) {
      isCut ||= value.length > MAX_ITEMS
      return value.slice(0, MAX_ITEMS).map(visit)
    }
    return typeof value === 'object' && value !== null ? fieldsOf(value) : value
  }
  const fieldsOf = (value: object) =>
    Object.fromEntries(Object.entries(value).map(([key, field]) => [key, visit(field)]))
  const fields = fieldsOf(result)
  return isCut ? { ...fields, cut: true } : fields
}
