// Elements in their table. Many are read by few queries: a query for each would take longer than all the rest
// of reading a state.
import { hash } from 'node:crypto'
import type { StateId } from '../../model/index.js'
import type { SqlRow } from '../../system/index.js'
import { number } from '../rows.js'
import type { Place } from '../sealing/index.js'
import { altered, lacking, malformed } from './damage.js'
import { nextId, type Rows } from './rows.js'

export const PLAIN = 0
export const TAGGED = 1
export const FAR = 2
/** The form is sealed too, in front of the text. */
export const SEALED = 3

export type Element = { readonly form: number; readonly text: string }

/** In hexadecimal digits. */
const HASH_DIGITS = 40

/** What names an element. Sealed ones are named by a keyed hash, so that nobody can guess what they hold. */
export function hashOf({ form, text }: Element, { key }: Pick<Rows, 'key'>): string {
  const content = `${form}${text}`
  if (key !== undefined) return key.addressOf(content)
  return hash('sha256', content, 'hex').slice(0, HASH_DIGITS)
}

export function elementPlace(id: number, digits: string): Place {
  return ['elements', id, digits]
}

/** The id of the element, which is added if it is new. */
export function storeElement(
  { database, key }: Rows,
  { form, text, hash: digits }: Element & { readonly hash: string },
): number {
  const bytes = Buffer.from(digits, 'hex')
  // Looked for first: an insert that is refused would still move the table's next id, and dirty a page.
  const known = database.get('SELECT id FROM elements WHERE hash = ?', bytes)
  if (known !== undefined) return number(known, 'id')
  if (key === undefined) {
    const sql = 'INSERT INTO elements (hash, form, text) VALUES (?, ?, ?) RETURNING id'
    return number(database.get(sql, bytes, form, text) ?? {}, 'id')
  }
  const id = nextId(database, 'elements')
  const sealed = key.seal(`${form}${text}`, elementPlace(id, digits))
  const sql = 'INSERT INTO elements (id, hash, form, text) VALUES (?, ?, ?, ?)'
  database.run(sql, id, bytes, SEALED, sealed)
  return id
}

/** The hash of an element of the state, in hexadecimal digits. */
export function readHash(
  { database }: Rows,
  { id, state }: { readonly id: number; readonly state: StateId },
): string {
  const bytes = database.get('SELECT hash FROM elements WHERE id = ?', id)?.['hash']
  if (!(bytes instanceof Uint8Array)) throw lacking(`element ${id}`, state)
  return Buffer.from(bytes).toString('hex')
}

/** How many elements are read at once. More are slower: see docs/performance.md#states. */
const AT_ONCE = 128
/** Longer texts are read alone, so that a piece has a bounded size. */
const MAX_BYTES_IN_PIECE = 65_536

const IS_IN_PIECE = `element.form = ${PLAIN} AND octet_length(element.text) <= ${MAX_BYTES_IN_PIECE}`

const PIECE = `
  SELECT group_concat(element.id) AS ids,
    '[' || group_concat(iif(${IS_IN_PIECE}, element.text, 'null')) || ']' AS texts,
    group_concat(iif(${IS_IN_PIECE}, NULL, wanted.key)) AS odd
  FROM json_each(?) AS wanted CROSS JOIN elements AS element ON element.id = wanted.value`

/** The same for ids in a row, which most lists have that grew step by step: rows side by side need no search. */
const RANGE = `
  SELECT group_concat(element.id) AS ids,
    '[' || group_concat(iif(${IS_IN_PIECE}, element.text, 'null')) || ']' AS texts,
    group_concat(iif(${IS_IN_PIECE}, NULL, element.id - ?1)) AS odd
  FROM elements AS element WHERE element.id BETWEEN ?1 AND ?2`

export type Elements = {
  /** The values of the plain elements; anything in the place of the others. */
  readonly values: unknown[]
  /** The elements that have tags, by their places in `values`. */
  readonly tagged: ReadonlyMap<number, Element>
}

type Wanted = { readonly ids: readonly number[]; readonly state: StateId }

export function readElements(rows: Rows, { ids, state }: Wanted): Elements {
  const values: unknown[] = []
  const tagged = new Map<number, Element>()
  for (let start = 0; start < ids.length; start += AT_ONCE) {
    const piece = ids.slice(start, start + AT_ONCE)
    const wanted = piece.join()
    const row = readPiece(rows, { piece, wanted })
    // Which also says that they came in this order.
    if (row?.['ids'] !== wanted) throw lacking('elements', state)
    const plain = parsePlain(String(row['texts']), state)
    if (plain.length !== piece.length) throw malformed('an element that is not JSON', { state })
    // Not one by one: the code of a first call is interpreted, and this is as long as all that SQLite does.
    values.push(...plain)
    if (typeof row['odd'] !== 'string') continue
    const places = row['odd'].split(',').map(Number)
    const odd = readRows(rows, { ids: places.map((place) => piece[place] ?? 0), state })
    for (const [n, element] of odd.entries()) {
      const at = start + (places[n] ?? 0)
      if (element.form === PLAIN) values[at] = parsePlain(`[${element.text}]`, state)[0]
      else tagged.set(at, element)
    }
  }
  return { values, tagged }
}

function readPiece(
  { database }: Rows,
  { piece, wanted }: { readonly piece: readonly number[]; readonly wanted: string },
): SqlRow | undefined {
  const [first, last] = [piece[0] ?? 0, piece.at(-1) ?? 0]
  // Then it is true in most cases; what is read tells whether it was.
  if (last - first !== piece.length - 1) return database.get(PIECE, `[${wanted}]`)
  const row = database.get(RANGE, first, last)
  return row?.['ids'] === wanted ? row : database.get(PIECE, `[${wanted}]`)
}

function readRows(rows: Rows, { ids, state }: Wanted): Element[] {
  const found = rows.database.all(
    `SELECT element.id, element.hash, element.form, element.text
     FROM json_each(?) AS wanted CROSS JOIN elements AS element ON element.id = wanted.value`,
    JSON.stringify(ids),
  )
  return ids.map((id, place) => {
    const row = found[place]
    if (row?.['id'] !== id) throw lacking(`element ${id}`, state)
    const element = openElement(rows, row)
    if (element === undefined) throw altered(`element ${id}`, state)
    return element
  })
}

/** Of a row with id, hash, form and text; undefined if it is not what was sealed. Throws KEY_MISSING, KEY_WRONG. */
export function openElement({ vault }: Pick<Rows, 'vault'>, row: SqlRow): Element | undefined {
  const [id, form, text] = [number(row, 'id'), number(row, 'form'), String(row['text'])]
  if (form !== SEALED) return { form, text }
  const { hash: bytes } = row
  const digits = bytes instanceof Uint8Array ? Buffer.from(bytes).toString('hex') : ''
  const opened = vault.open(text, elementPlace(id, digits))
  return opened === undefined ? undefined : { form: Number(opened[0]), text: opened.slice(1) }
}

function parsePlain(text: string, state: StateId): readonly unknown[] {
  try {
    const values: unknown = JSON.parse(text)
    return Array.isArray(values) ? values : []
  } catch (cause) {
    throw malformed('an element that is not JSON', { state, cause })
  }
}
