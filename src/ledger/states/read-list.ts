// Reads parts of the lists of states: the length from the row of the state alone, and a slice without the other elements.
import { type ClassRegistry, hasCode, type SessionKey, type StateId } from '../../model/index.js'
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

/** `damaged` if the store has lost the state. `length` is null then, and if the state has no such list. */
type ListLength = { readonly length: number | null; readonly damaged?: true }
export type CheckpointListLength = ListLength & { readonly id: string }

/** The length of the list under this key at every checkpoint of a session, oldest first. Throws KEY_MISSING, KEY_WRONG. */
export function readListLengths(
  rows: Rows,
  {
    session,
    key,
    classes,
  }: Pick<SliceRequest, 'key' | 'classes'> & { readonly session: SessionKey },
): CheckpointListLength[] {
  const found = rows.database.all(
    `SELECT checkpoints.id, checkpoints.state, states.body FROM checkpoints
     LEFT JOIN states ON states.id = checkpoints.state WHERE session = ? ORDER BY step`,
    session,
  )
  // Checkpoints without a change of the state share its row.
  const lengths = new Map<StateId, ListLength>()
  return found.map(({ id, state: stateId, body }) => {
    if (typeof stateId !== 'number') return { id: String(id), length: null }
    const state = stateId as StateId
    const length = lengths.get(state) ?? lengthOf({ rows, classes, state }, body, key)
    lengths.set(state, length)
    return { id: String(id), ...length }
  })
}

/** One lost state must not hide the lengths of all others. */
function lengthOf(source: StateSource, body: unknown, key: string): ListLength {
  const { rows, state } = source
  try {
    const opened = typeof body === 'string' ? openBody(body, state, rows.vault) : undefined
    if (opened === undefined) return { length: null, damaged: true }
    const list = findList(source, parseBody(opened, state).root, key)
    if (list === undefined) return { length: null }
    return { length: 'tree' in list ? list.tree.length : list.length }
  } catch (error) {
    if (!hasCode(error, 'STORE_DAMAGED')) throw error
    return { length: null, damaged: true }
  }
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
