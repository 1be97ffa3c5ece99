// Makes a state again from its rows. Far references are filled in last, when everything they lead to is there.
import {
  type ClassRegistry,
  type DecodedValue,
  decodeValue,
  resolvePath,
  SavestateError,
  type StateId,
} from '../../model/index.js'
import { altered, lacking, malformed } from './damage.js'
import { readElements } from './element-rows.js'
import type { Run } from './node-body.js'
import { readList } from './node-rows.js'
import type { Place } from '../sealing/index.js'
import type { Rows } from './rows.js'
import { parseBody, type Part, sealedIn, type StateBody } from './state-body.js'

/** The tables and classes to read with. */
export type StateSource = {
  readonly rows: Rows
  readonly classes: ClassRegistry | undefined
  readonly state: StateId
}

type Reading = StateSource & { readonly unfilled: Unfilled[] }

/** An element with far references, and how to put it in its place once they are filled in. */
type Unfilled = { readonly decoded: DecodedValue; readonly place: () => void }

export function readBody(rows: Rows, state: StateId): StateBody {
  const body = rows.database.get('SELECT body FROM states WHERE id = ?', state)?.['body']
  if (typeof body !== 'string') throw lacking('the row', state)
  const opened = openBody(rows, { state, body })
  if (opened === undefined) throw altered('the row', state)
  return parseBody(opened, state)
}

/** The text of a row without its seal; undefined if it is not what was sealed. Throws KEY_MISSING, KEY_WRONG. */
export function openBody(
  { vault }: Pick<Rows, 'vault'>,
  { state, body }: { readonly state: number; readonly body: string },
): string | undefined {
  const seal = sealedIn(body)
  return seal === undefined ? body : vault.open(seal.sealed, bodyPlace(state, seal.references))
}

/** The references are in the open, but nobody can change them unnoticed. */
export function bodyPlace(state: number, references: string): Place {
  return ['states', state, references]
}

export type ReadOptions = {
  readonly state: StateId
  readonly keys?: readonly string[] | undefined
  readonly classes: ClassRegistry | undefined
}

/** Fresh objects each time. With `keys` only those; the others are not read unless these refer to them. */
export function readState(rows: Rows, { state, keys, classes }: ReadOptions): unknown {
  const { root, hasFar } = readBody(rows, state)
  if (keys === undefined) return readPart({ rows, classes, state }, root)
  if (root.kind !== 'object' && root.kind !== 'entries') {
    throw new SavestateError('BAD_INPUT', `The state ${state} is not an object that has keys`, {
      hint: 'Read the whole state.',
    })
  }
  const wanted = new Set(keys)
  const isLazy = root.kind === 'object' && !hasFar
  const part: Part = isLazy
    ? { kind: 'object', entries: root.entries.filter(([key]) => wanted.has(key)) }
    : root
  const whole = readPart({ rows, classes, state }, part)
  return Object.fromEntries(Object.entries(Object(whole)).filter(([key]) => wanted.has(key)))
}

/** A part as a value. Far references in it must lead to something in it. */
export function readPart(source: StateSource, part: Part): unknown {
  const reading: Reading = { ...source, unfilled: [] }
  let value: unknown
  const put = (made: unknown) => {
    value = made
  }
  fillPart(reading, { part, put })
  for (const { decoded } of reading.unfilled) {
    for (const { path, fill } of decoded.holes) {
      const target = resolvePath(value, path)
      if (typeof target !== 'object' || target === null)
        throw malformed('a far reference that leads nowhere', { state: reading.state })
      fill(target)
    }
  }
  for (const { place } of reading.unfilled) place()
  return value
}

/** `put` is called with the value; once more at the end if it is a far reference as a whole. */
function fillPart(
  reading: Reading,
  { part, put }: { readonly part: Part; readonly put: (value: unknown) => void },
): void {
  switch (part.kind) {
    case 'primitive':
      put(part.value)
      return
    case 'element':
      put(
        readValues(reading, {
          runs: [{ first: part.id, count: 1 }],
          put: (_, value) => put(value),
        })[0],
      )
      return
    case 'object': {
      const object = {}
      for (const [key, inner] of part.entries)
        fillPart(reading, { part: inner, put: (value) => define(object, [key, value]) })
      put(object)
      return
    }
    case 'list': {
      const runs = readList(reading.rows, { tree: part.tree, state: reading.state })
      const list = readValues(reading, {
        runs,
        put: (place, value) => {
          list[place] = value
        },
      })
      put(list)
      return
    }
    default: {
      const object = {}
      const add = (pair: unknown) => define(object, entryOf(pair, reading.state))
      const runs = readList(reading.rows, { tree: part.tree, state: reading.state })
      for (const pair of readValues(reading, { runs, put: (_, pair) => add(pair) })) add(pair)
      put(object)
    }
  }
}

/** Calls `put` later, once it is complete, for an element with far references. */
function readValues(
  reading: Reading,
  {
    runs,
    put,
  }: { readonly runs: readonly Run[]; readonly put: (place: number, value: unknown) => void },
): unknown[] {
  const { classes } = reading
  const { values, tagged } = readElements(reading.rows, { runs, state: reading.state })
  for (const [place, { text }] of tagged) {
    const decoded = decodeValue(text, classes === undefined ? {} : { classes })
    values[place] = decoded.value
    if (decoded.holes.length > 0)
      reading.unfilled.push({ decoded, place: () => put(place, decoded.value) })
  }
  return values
}

/** Elements of a state without far references. */
export function readItems(source: StateSource, runs: readonly Run[]): readonly unknown[] {
  return readValues({ ...source, unfilled: [] }, { runs, put: () => undefined })
}

/** The row of an element of a large object. */
export function entryOf(pair: unknown, state: StateId): readonly [string, unknown] {
  const [key, value]: readonly unknown[] = Array.isArray(pair) ? pair : []
  if (typeof key !== 'string') throw malformed('an entry without a key', { state })
  return [key, value]
}

function define(object: object, [key, value]: readonly [string, unknown]): void {
  Object.defineProperty(object, key, {
    value,
    enumerable: true,
    writable: true,
    configurable: true,
  })
}
