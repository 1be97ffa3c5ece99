// Elements in their table. Many are read by few queries: a query for each would take longer than all the rest
// of reading a state.
import { hash } from 'node:crypto'
import type { StateId } from '../../model/index.js'
import type { Database } from '../../system/index.js'
import { number } from '../rows.js'
import { lacking, malformed } from './damage.js'

export const PLAIN = 0
export const TAGGED = 1
export const FAR = 2

export type Element = { readonly form: number; readonly text: string }

/** In hexadecimal digits. */
const HASH_DIGITS = 40

export function hashOf({ form, text }: Element): string {
  return hash('sha256', `${form}${text}`, 'hex').slice(0, HASH_DIGITS)
}

/** The id of the element, which is added if it is new. */
export function storeElement(
  database: Database,
  { form, text, hash: digits }: Element & { readonly hash: string },
): number {
  const bytes = Buffer.from(digits, 'hex')
  // Looked for first: an insert that is refused would still move the table's next id, and dirty a page.
  const known = database.get('SELECT id FROM elements WHERE hash = ?', bytes)
  const row =
    known ??
    database.get(
      'INSERT INTO elements (hash, form, text) VALUES (?, ?, ?) RETURNING id',
      bytes,
      form,
      text,
    )
  return number(row ?? {}, 'id')
}

/** The hash of an element of the state, in hexadecimal digits. */
export function readHash(
  database: Database,
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

const PIECE = `
  SELECT group_concat(element.id) AS ids,
    group_concat(iif(element.form = ${PLAIN} AND octet_length(element.text) <= ${MAX_BYTES_IN_PIECE},
      element.text, 'null')) AS texts,
    group_concat(iif(element.form = ${PLAIN} AND octet_length(element.text) <= ${MAX_BYTES_IN_PIECE},
      NULL, wanted.key)) AS odd
  FROM json_each(?) AS wanted CROSS JOIN elements AS element ON element.id = wanted.value`

export type Elements = {
  /** The values of the plain elements; anything in the place of the others. */
  readonly values: unknown[]
  /** The elements that have tags, by their places in `values`. */
  readonly tagged: ReadonlyMap<number, Element>
}

type Wanted = { readonly ids: readonly number[]; readonly state: StateId }

export function readElements(database: Database, { ids, state }: Wanted): Elements {
  const values: unknown[] = []
  const tagged = new Map<number, Element>()
  for (let start = 0; start < ids.length; start += AT_ONCE) {
    const piece = ids.slice(start, start + AT_ONCE)
    const wanted = piece.join()
    const row = database.get(PIECE, `[${wanted}]`)
    // Which also says that they came in this order.
    if (row?.['ids'] !== wanted) throw lacking('elements', state)
    const plain = parsePlain(`[${String(row['texts'])}]`, state)
    if (plain.length !== piece.length) throw malformed('an element that is not JSON', { state })
    for (const value of plain) values.push(value)
    if (typeof row['odd'] !== 'string') continue
    const places = row['odd'].split(',').map(Number)
    const odd = readRows(database, { ids: places.map((place) => piece[place] ?? 0), state })
    for (const [n, element] of odd.entries()) {
      const at = start + (places[n] ?? 0)
      if (element.form === PLAIN) values[at] = parsePlain(`[${element.text}]`, state)[0]
      else tagged.set(at, element)
    }
  }
  return { values, tagged }
}

function readRows(database: Database, { ids, state }: Wanted): Element[] {
  const rows = database.all(
    `SELECT element.id, element.form, element.text
     FROM json_each(?) AS wanted CROSS JOIN elements AS element ON element.id = wanted.value`,
    JSON.stringify(ids),
  )
  return ids.map((id, place) => {
    const row = rows[place]
    if (row?.['id'] !== id) throw lacking(`element ${id}`, state)
    return { form: number(row, 'form'), text: String(row['text']) }
  })
}

function parsePlain(text: string, state: StateId): readonly unknown[] {
  try {
    const values: unknown = JSON.parse(text)
    return Array.isArray(values) ? values : []
  } catch (cause) {
    throw malformed('an element that is not JSON', { state, cause })
  }
}
