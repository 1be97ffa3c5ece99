// Elements in their table. Many are read by few queries: a query for each would take longer than all the rest
// of reading a state.
import { isAscii } from 'node:buffer'
import { hash } from 'node:crypto'
import type { StateId } from '../../../model/index.js'
import type { SqlRow } from '../../../system/index.js'
import { number } from '../../rows.js'
import type { SealContext } from '../../encryption/index.js'
import { alteredError, missingError, malformedError } from '../gc/damage.js'
import { expandRun, type Run } from './node-body.js'
import { nextId, type Rows } from '../rows.js'

export const PLAIN = 0
export const TAGGED = 1
/** The form is sealed too, in front of the text. */
export const SEALED = 2

export type Element = { readonly form: number; readonly text: string }

/** In hexadecimal digits. */
const HASH_DIGITS = 40

/** What names an element. Sealed ones are named by a keyed hash, so that nobody can guess what they hold. */
export function hashElement({ form, text }: Element, { key }: Pick<Rows, 'key'>): string {
  const content = `${form}${text}`
  if (key !== undefined) return key.deriveAddress(content)
  return hash('sha256', content, 'hex').slice(0, HASH_DIGITS)
}

export function elementContext(id: number, digits: string): SealContext {
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
  const sealed = key.seal(`${form}${text}`, elementContext(id, digits))
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
  if (!(bytes instanceof Uint8Array)) throw missingError(`element ${id}`, state)
  return Buffer.from(bytes).toString('hex')
}

/** How many elements are read at once. More are no faster. */
const AT_ONCE = 128
/** Runs up to here are read together. */
const MAX_TOGETHER = 16
/** Longer texts are read alone, so that a piece has a bounded size. */
const MAX_BYTES_IN_PIECE = 65_536

const IS_IN_PIECE = `element.form = ${PLAIN} AND octet_length(element.text) <= ${MAX_BYTES_IN_PIECE}`

const PIECE = `
  SELECT group_concat(element.id) AS ids,
    '[' || group_concat(iif(${IS_IN_PIECE}, element.text, 'null')) || ']' AS texts,
    group_concat(iif(${IS_IN_PIECE}, NULL, wanted.key)) AS odd
  FROM json_each(?) AS wanted CROSS JOIN elements AS element ON element.id = wanted.value`

/**
 * The same for ids in a row, which most lists have that grew step by step: rows side by side need no search, and if there
 * are as many as ids, they are these, in the order of the table. Only if none is odd. As bytes: Node makes a string of
 * them in half the time that the driver takes for it, a tenth of a whole load (docs/performance.md#states).
 */
const RANGE = `
  SELECT count(*) AS count, CAST('[' || group_concat(element.text) || ']' AS BLOB) AS texts
  FROM elements AS element WHERE element.id BETWEEN ? AND ? AND ${IS_IN_PIECE}`

export type Elements = {
  /** The values of the plain elements; anything in the index of the others. */
  readonly values: unknown[]
  /** The elements that have tags, by their places in `values`. */
  readonly tagged: ReadonlyMap<number, Element>
}

type Wanted = { readonly ids: readonly number[]; readonly state: StateId }
type Found = { readonly texts: string /** Places in the piece. */; readonly odd: readonly number[] }

export function readElements(
  rows: Rows,
  { runs, state }: { readonly runs: readonly Run[]; readonly state: StateId },
): Elements {
  const values: unknown[] = []
  const tagged = new Map<number, Element>()
  let isPlain = true
  for (const piece of piecesOf(runs)) {
    const start = values.length
    const range = isPlain ? readRange(rows, piece) : undefined
    // A list that has one that is odd mostly has many.
    if (range === undefined && piece.length === 1) isPlain = false
    const { texts, odd } = range ?? readPiece(rows, { ids: idsIn(piece), state })
    const plain = parsePlain(texts, state)
    if (plain.length !== sizeOf(piece))
      throw malformedError('an element that is not JSON', { state })
    // Not one by one: the code of a first call is interpreted, and this is as long as all that SQLite does.
    values.push(...plain)
    if (odd.length === 0) continue
    const ids = idsIn(piece)
    const elements = readRows(rows, { ids: odd.map((index) => ids[index] ?? 0), state })
    for (const [n, element] of elements.entries()) {
      const at = start + (odd[n] ?? 0)
      if (element.form === PLAIN) values[at] = parsePlain(`[${element.text}]`, state)[0]
      else tagged.set(at, element)
    }
  }
  return { values, tagged }
}

/** Long runs come alone, in pieces; short ones together. */
function piecesOf(runs: readonly Run[]): Run[][] {
  const pieces: Run[][] = []
  let room = 0
  for (const { first, count } of runs) {
    for (let at = 0; at < count; ) {
      const part = { first: first + at, count: Math.min(count - at, AT_ONCE) }
      const last = pieces.at(-1)
      if (part.count > MAX_TOGETHER || part.count > room || last === undefined) {
        pieces.push([part])
        room = part.count > MAX_TOGETHER ? 0 : AT_ONCE - part.count
      } else {
        last.push(part)
        room -= part.count
      }
      at += part.count
    }
  }
  return pieces
}

function idsIn(piece: readonly Run[]): number[] {
  return piece.flatMap(expandRun)
}

function sizeOf(piece: readonly Run[]): number {
  return piece.reduce((sum, { count }) => sum + count, 0)
}

/** Undefined if it is more than one run, or not all elements are there and plain. */
function readRange({ database }: Rows, [run, more]: readonly Run[]): Found | undefined {
  if (run === undefined || more !== undefined) return undefined
  const { count, texts } = database.get(RANGE, run.first, run.first + run.count - 1) ?? {}
  if (count !== run.count || !(texts instanceof Uint8Array)) return undefined
  return { texts: textOf(texts), odd: [] }
}

/** Plain ASCII, as most is, needs no decoding. */
function textOf({ buffer, byteOffset, length }: Uint8Array): string {
  const bytes = Buffer.from(buffer, byteOffset, length)
  return bytes.toString(isAscii(bytes) ? 'latin1' : 'utf8')
}

function readPiece({ database }: Rows, { ids, state }: Wanted): Found {
  const wanted = ids.join()
  const row = database.get(PIECE, `[${wanted}]`)
  // Which also says that they came in this order.
  if (row?.['ids'] !== wanted) throw missingError('elements', state)
  const { odd } = row
  return {
    texts: String(row['texts']),
    odd: typeof odd === 'string' ? odd.split(',').map(Number) : [],
  }
}

function readRows(rows: Rows, { ids, state }: Wanted): Element[] {
  const found = rows.database.all(
    `SELECT element.id, element.hash, element.form, element.text
     FROM json_each(?) AS wanted CROSS JOIN elements AS element ON element.id = wanted.value`,
    JSON.stringify(ids),
  )
  return ids.map((id, index) => {
    const row = found[index]
    if (row?.['id'] !== id) throw missingError(`element ${id}`, state)
    const element = openElement(rows, row)
    if (element === undefined) throw alteredError(`element ${id}`, state)
    return element
  })
}

/** Of a row with id, hash, form and text; undefined if it is not what was sealed. Throws KEY_MISSING, KEY_WRONG. */
export function openElement({ vault }: Pick<Rows, 'vault'>, row: SqlRow): Element | undefined {
  const [id, form, text] = [number(row, 'id'), number(row, 'form'), String(row['text'])]
  if (form !== SEALED) return { form, text }
  const { hash: bytes } = row
  const digits = bytes instanceof Uint8Array ? Buffer.from(bytes).toString('hex') : ''
  const opened = vault.open(text, elementContext(id, digits))
  return opened === undefined ? undefined : { form: Number(opened[0]), text: opened.slice(1) }
}

function parsePlain(text: string, state: StateId): readonly unknown[] {
  try {
    const values: unknown = JSON.parse(text)
    return Array.isArray(values) ? values : []
  } catch (cause) {
    throw malformedError('an element that is not JSON', { state, cause })
  }
}
