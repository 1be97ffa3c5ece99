// Reads and writes the table of elements. One query reads many: a query for each would take longer than all other steps of a read.
import { hash } from 'node:crypto'
import type { StateId } from '../../../model/index.js'
import type { SqlRow } from '../../../system/index.js'
import { insertRow, number } from '../../rows.js'
import type { SealContext, SealingKey } from '../../encryption/index.js'
import { alteredError, missingError, malformedError } from '../gc/damage.js'
import { nextId, type Rows } from '../rows.js'

export const PLAIN = 0
export const TAGGED = 1
/** The original form is sealed too, before the text. */
export const SEALED = 2

export type Element = { readonly form: number; readonly text: string }

type HashedElement = Element & { readonly hash: string }

/** In hexadecimal digits. */
const HASH_DIGITS = 40

/** The name of an element. It is a keyed hash for a sealed element, so that its content cannot be guessed. */
export function hashElement({ form, text }: Element, { key }: Pick<Rows, 'key'>): string {
  const content = `${form}${text}`
  if (key !== undefined) return key.deriveAddress(content)
  return hash('sha256', content, 'hex').slice(0, HASH_DIGITS)
}

function elementContext(id: number, digits: string): SealContext {
  return ['elements', id, digits]
}

/** Adds the element if it is new, and returns its id. */
export function storeElement({ database, key }: Rows, element: HashedElement): number {
  // Search first: an ignored insert would still consume an id and write a page.
  const hash = Buffer.from(element.hash, 'hex')
  const known = database.get('SELECT id FROM elements WHERE hash = ?', hash)
  if (known !== undefined) return number(known, 'id')
  const id = nextId(database, 'elements')
  insertRow(database, 'elements', { id, ...elementColumns(element, id, key) })
  return id
}

/** The columns besides the id, sealed if there is a key. */
export function elementColumns(
  { form, text, hash: digits }: HashedElement,
  id: number,
  key: SealingKey | undefined,
): { readonly hash: Buffer; readonly form: number; readonly text: string } {
  const bytes = Buffer.from(digits, 'hex')
  if (key === undefined) return { hash: bytes, form, text }
  const sealed = key.seal(`${form}${text}`, elementContext(id, digits))
  return { hash: bytes, form: SEALED, text: sealed }
}

/** In hexadecimal digits. */
export function readHash(
  { database }: Rows,
  { id, state }: { readonly id: number; readonly state: StateId },
): string {
  const bytes = database.get('SELECT hash FROM elements WHERE id = ?', id)?.['hash']
  if (!(bytes instanceof Uint8Array)) throw missingError(`element ${id}`, state)
  return Buffer.from(bytes).toString('hex')
}

/** How many elements one query reads. More are no faster. */
const BATCH_SIZE = 128
/** Longer texts are read one by one, so that the result of a query has a bounded size. */
const MAX_BYTES_IN_BATCH = 65_536

const IS_IN_BATCH = `element.form = ${PLAIN} AND octet_length(element.text) <= ${MAX_BYTES_IN_BATCH}`

/** Returns one text for all plain elements: SQLite takes longer to return each row by itself. */
const BATCH = `
  SELECT group_concat(element.id) AS ids,
    '[' || group_concat(iif(${IS_IN_BATCH}, element.text, 'null')) || ']' AS texts,
    group_concat(iif(${IS_IN_BATCH}, NULL, wanted.key)) AS others
  FROM json_each(?) AS wanted CROSS JOIN elements AS element ON element.id = wanted.value`

export type Elements = {
  /** The values of the plain elements; null for tagged ones. */
  readonly values: unknown[]
  /** The tagged elements, by their index in `values`. */
  readonly tagged: ReadonlyMap<number, Element>
}

type Wanted = { readonly ids: readonly number[]; readonly state: StateId }

export function readElements(rows: Rows, { ids, state }: Wanted): Elements {
  const values: unknown[] = []
  const tagged = new Map<number, Element>()
  for (let start = 0; start < ids.length; start += BATCH_SIZE) {
    const batch = ids.slice(start, start + BATCH_SIZE)
    const { texts, others } = readBatch(rows, { ids: batch, state })
    const plain = parsePlain(texts, state)
    if (plain.length !== batch.length)
      throw malformedError('an element that is not JSON', { state })
    values.push(...plain)
    if (others.length === 0) continue
    const elements = readElementRows(rows, { ids: others.map((index) => batch[index] ?? 0), state })
    for (const [n, element] of elements.entries()) {
      const index = start + (others[n] ?? 0)
      if (element.form === PLAIN) values[index] = parsePlain(`[${element.text}]`, state)[0]
      else tagged.set(index, element)
    }
  }
  return { values, tagged }
}

/** `texts` is a JSON array; `others` are the indexes of the elements that are not in it. */
function readBatch(
  { database }: Rows,
  { ids, state }: Wanted,
): { readonly texts: string; readonly others: readonly number[] } {
  const wanted = ids.join()
  const row = database.get(BATCH, `[${wanted}]`)
  // This also checks their order.
  if (row?.['ids'] !== wanted) throw missingError('elements', state)
  const { texts, others } = row
  return {
    texts: String(texts),
    others: typeof others === 'string' ? others.split(',').map(Number) : [],
  }
}

/** In this order. Throws STORE_DAMAGED, KEY_MISSING, KEY_WRONG. */
export function readElementRows(rows: Rows, { ids, state }: Wanted): Element[] {
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

/** `row` has id, hash, form and text. Undefined if it was altered. Throws KEY_MISSING, KEY_WRONG. */
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
