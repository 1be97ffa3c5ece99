// Reads parts of the lists of states: the length from the row of the state alone, and a slice without the other elements.
import type { ClassRegistry, SessionKey, StateId } from '../../model/index.js'
import { number } from '../rows.js'
import { alteredError } from './gc/damage.js'
import { readBody, readItems, readPart, type StateSource } from './read-state.js'
import type { Rows } from './rows.js'
import { type ListPart, openBody, type Part, parseBody } from './state-body.js'
import { readList } from './tree/node-rows.js'

export type ListSlice = { readonly items: readonly unknown[]; readonly total: number }

export type SliceRequest = {
  readonly state: StateId
  readonly key: string
  /** The index of the first item. */
  readonly from: number
  readonly limit: number
  readonly classes: ClassRegistry | undefined
}

/** Undefined if the state has no list under this key. */
export function readListSlice(rows: Rows, request: SliceRequest): ListSlice | undefined {
  const { state, key, from, limit, classes } = request
  const source = { rows, classes, state }
  const list = findList(source, readBody(rows, state).root, key)
  if (list === undefined) return undefined
  if (!('tree' in list)) return { items: list.slice(from, from + limit), total: list.length }
  const { tree } = list
  const wanted = readList(rows, { tree, state }).slice(from, from + limit)
  return { items: readItems(source, wanted), total: tree.length }
}

/** The length of the list under this key at every checkpoint of a session, oldest first; null where there is no such list. */
export function readListLengths(
  rows: Rows,
  {
    session,
    key,
    classes,
  }: { readonly session: SessionKey; readonly key: string; classes: ClassRegistry | undefined },
): { readonly id: string; readonly length: number | null }[] {
  const found = rows.database.all(
    `SELECT checkpoints.id, states.id AS state, states.body FROM checkpoints
     LEFT JOIN states ON states.id = checkpoints.state WHERE session = ? ORDER BY step`,
    session,
  )
  // Checkpoints without a change of the state share its row.
  const lengths = new Map<StateId, number | null>()
  return found.map((row) => {
    const { body } = row
    const id = String(row['id'])
    if (typeof body !== 'string') return { id, length: null }
    const state = number(row, 'state') as StateId
    const known = lengths.get(state)
    if (known !== undefined) return { id, length: known }
    const opened = openBody(body, state, rows.vault)
    if (opened === undefined) throw alteredError('the row', state)
    const list = findList({ rows, classes, state }, parseBody(opened, state).root, key)
    const length = list === undefined ? null : 'tree' in list ? list.tree.length : list.length
    lengths.set(state, length)
    return { id, length }
  })
}

/** A list with its own tree, or the items of a list that is part of an element. */
function findList(
  source: StateSource,
  root: Part,
  key: string,
): ListPart | readonly unknown[] | undefined {
  if (root.kind === 'object') {
    const part = root.entries.find(([name]) => name === key)?.[1]
    if (part?.kind === 'list') return part
    const value = part?.kind === 'element' ? readPart(source, part) : undefined
    return Array.isArray(value) ? value : undefined
  }
  // An object with very many keys has no part per key.
  if (root.kind !== 'entries') return undefined
  const value: unknown = Reflect.get(Object(readPart(source, root)), key)
  return Array.isArray(value) ? value : undefined
}
