// Nodes in their table.
import type { StateId } from '../../model/index.js'
import type { Database } from '../../system/index.js'
import { number } from '../rows.js'
import { lacking, malformed } from './damage.js'
import { packNode, unpackNode } from './node-body.js'
import type { Tree } from './state-body.js'

/** Nodes of one level of a tree that are stored, by their bodies. */
export type KnownNodes = Map<string, number>

/** Adds the node unless it is known. Nodes have no index: only what is remembered is found again. */
export function storeNode(
  database: Database,
  { ids, known }: { readonly ids: readonly number[]; readonly known: KnownNodes },
): { readonly id: number; readonly key: string } {
  const body = packNode(ids)
  const key = body.toString('latin1')
  const id =
    known.get(key) ??
    number(database.get('INSERT INTO nodes (body) VALUES (?) RETURNING id', body) ?? {}, 'id')
  known.set(key, id)
  return { id, key }
}

export function nodeKey(ids: readonly number[]): string {
  return packNode(ids).toString('latin1')
}

type Wanted = { readonly ids: readonly number[]; readonly state: StateId }

/** The children of each of these nodes. */
export function readNodes(database: Database, { ids, state }: Wanted): number[][] {
  const rows = database.all(
    `SELECT node.id, node.body
     FROM json_each(?) AS wanted CROSS JOIN nodes AS node ON node.id = wanted.value`,
    JSON.stringify(ids),
  )
  if (rows.some((row, place) => row['id'] !== ids[place]) || rows.length !== ids.length)
    throw lacking('nodes', state)
  return rows.map(({ body }) => {
    const children = body instanceof Uint8Array ? unpackNode(body) : undefined
    if (children === undefined) throw malformed('a node of another form', { state })
    return children
  })
}

/** The ids of all elements of a list, in order. */
export function readList(
  database: Database,
  { tree, state }: { readonly tree: Tree; readonly state: StateId },
): readonly number[] {
  if (tree.length === 0) return []
  let ids: readonly number[] = [tree.node]
  for (let level = tree.height; level >= 0; level -= 1) {
    const below: number[] = []
    for (const children of readNodes(database, { ids, state }))
      for (const child of children) below.push(child)
    ids = below
  }
  if (ids.length !== tree.length) throw malformed('a list of another length', { state })
  return ids
}
