// Rebuilds a state from its rows.
import { type ClassRegistry, decodeValue, SavestateError, type StateId } from '../../model/index.js'
import { alteredError, missingError, malformedError } from './gc/damage.js'
import { readElements } from './tree/element-rows.js'
import { readList } from './tree/node-rows.js'
import type { Rows } from './rows.js'
import { openBody, parseBody, type Part, type StateBody } from './state-body.js'

export type StateSource = {
  readonly rows: Rows
  readonly classes: ClassRegistry | undefined
  readonly state: StateId
}

export function readBody(rows: Rows, state: StateId): StateBody {
  const body = rows.database.get('SELECT body FROM states WHERE id = ?', state)?.['body']
  if (typeof body !== 'string') throw missingError('the row', state)
  const opened = openBody(body, state, rows.vault)
  if (opened === undefined) throw alteredError('the row', state)
  return parseBody(opened, state)
}

export type ReadOptions = {
  readonly state: StateId
  readonly keys?: readonly string[] | undefined
  readonly classes: ClassRegistry | undefined
}

/** Returns new objects each time. With `keys`, reads only the values of these keys. */
export function readState(rows: Rows, { state, keys, classes }: ReadOptions): unknown {
  const { root } = readBody(rows, state)
  const source = { rows, classes, state }
  if (keys === undefined) return readPart(source, root)
  const wanted = new Set(keys)
  if (root.kind === 'object') {
    const entries = root.entries.filter(([key]) => wanted.has(key))
    return readPart(source, { kind: 'object', entries })
  }
  if (root.kind === 'entries') {
    const whole = Object(readPart(source, root))
    return Object.fromEntries(Object.entries(whole).filter(([key]) => wanted.has(key)))
  }
  throw new SavestateError('BAD_INPUT', `The state ${state} is not an object that has keys`, {
    hint: 'Read the whole state.',
  })
}

export function readPart(source: StateSource, part: Part): unknown {
  if (part.kind === 'primitive') return part.value
  if (part.kind === 'element') return readItems(source, [part.id])[0]
  if (part.kind === 'object') {
    const object = {}
    for (const [key, inner] of part.entries) defineProperty(object, key, readPart(source, inner))
    return object
  }
  const { rows, state } = source
  const items = readItems(source, readList(rows, { tree: part.tree, state }))
  if (part.kind === 'list') return items
  const object = {}
  for (const item of items) defineProperty(object, ...parseEntry(item, state))
  return object
}

/** The values of these elements. */
export function readItems(
  { rows, classes, state }: StateSource,
  ids: readonly number[],
): unknown[] {
  const { values, tagged } = readElements(rows, { ids, state })
  for (const [index, { text }] of tagged) values[index] = decodeValue(text, { classes })
  return values
}

/** `pair` is the value of an element of a large object. */
export function parseEntry(pair: unknown, state: StateId): [string, unknown] {
  const [key, value]: readonly unknown[] = Array.isArray(pair) ? pair : []
  if (typeof key !== 'string') throw malformedError('an entry without a key', { state })
  return [key, value]
}

/** Works for every key, also for `__proto__`. */
export function defineProperty(object: object, key: string, value: unknown): void {
  Object.defineProperty(object, key, {
    value,
    enumerable: true,
    writable: true,
    configurable: true,
  })
}
