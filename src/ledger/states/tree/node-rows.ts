// Reads and writes the table of nodes.
import type { StateId } from '../../../model/index.js'
import type { Database } from '../../../system/index.js'
import { insertRow } from '../../rows.js'
import type { SealContext, SealingKey, Vault } from '../../encryption/index.js'
import { alteredError, malformedError, missingError } from '../gc/damage.js'
import { addSeal, packNode, parseSeal, unpackNode } from './node-body.js'
import { nextId, type Rows } from '../rows.js'
import type { Tree } from '../state-body.js'

/** Stored nodes of one level of a tree, by their bodies. */
export type KnownNodes = Map<string, number>

/** Adds the node unless it is known. Nodes have no index, so only remembered nodes are reused. */
export function storeNode(
  rows: Rows,
  { ids, known }: { readonly ids: readonly number[]; readonly known: KnownNodes },
): { readonly id: number; readonly key: string } {
  const body = packNode(ids)
  const key = body.toString('latin1')
  const id = known.get(key) ?? insertNode(rows, body)
  known.set(key, id)
  return { id, key }
}

function insertNode({ database, key }: Rows, body: Buffer): number {
  const id = nextId(database, 'nodes')
  insertRow(database, 'nodes', { id, body: sealNode(body, id, key) })
  return id
}

export function sealNode(packed: Uint8Array, id: number, key: SealingKey | undefined): Uint8Array {
  if (key === undefined) return packed
  return addSeal(packed, { keyId: key.id, tag: key.computeTag(packed, nodeContext(id)) })
}

function nodeContext(id: number): SealContext {
  return ['nodes', id]
}

export function nodeKey(ids: readonly number[]): string {
  return packNode(ids).toString('latin1')
}

type Wanted = { readonly ids: readonly number[]; readonly state: StateId }

/** The children of each of these nodes, without verifying seals. */
export function readNodes(database: Database, wanted: Wanted): number[][] {
  return readBodies(database, wanted).map((body) => unpack(body, wanted.state))
}

/** The children of each of these nodes. Throws STORE_DAMAGED if one was altered, KEY_MISSING, KEY_WRONG. */
export function openNodes({ database, vault }: Rows, { ids, state }: Wanted): number[][] {
  return readBodies(database, { ids, state }).map((body, index) => {
    const id = ids[index] ?? 0
    const packed = openNode(vault, id, body)
    if (packed === undefined) throw alteredError(`node ${id}`, state)
    return unpack(packed, state)
  })
}

/** The node without its seal; undefined if it was altered. Throws KEY_MISSING, KEY_WRONG. */
export function openNode(vault: Vault, id: number, body: Uint8Array): Uint8Array | undefined {
  const seal = parseSeal(body)
  if (seal === undefined) return body
  const { keyId, tag, packed } = seal
  return vault.keyFor(keyId).verifyTag(tag, packed, nodeContext(id)) ? packed : undefined
}

function unpack(body: Uint8Array, state: StateId): number[] {
  const ids = unpackNode(body)
  if (ids === undefined) throw malformedError('a node of another form', { state })
  return ids
}

function readBodies(database: Database, { ids, state }: Wanted): Uint8Array[] {
  const rows = database.all(
    `SELECT node.id, node.body
     FROM json_each(?) AS wanted CROSS JOIN nodes AS node ON node.id = wanted.value`,
    JSON.stringify(ids),
  )
  if (rows.some((row, index) => row['id'] !== ids[index]) || rows.length !== ids.length)
    throw missingError('nodes', state)
  return rows.map(({ body }) => (body instanceof Uint8Array ? body : new Uint8Array()))
}

/** The ids of all elements of a list, in order. */
export function readList(
  rows: Rows,
  { tree, state }: { readonly tree: Tree; readonly state: StateId },
): readonly number[] {
  let ids = tree.length === 0 ? [] : [tree.node]
  for (let level = tree.height; level >= 0 && ids.length > 0; level -= 1)
    ids = openNodes(rows, { ids, state }).flat()
  if (ids.length !== tree.length) throw malformedError('a list of another length', { state })
  return ids
}

/**
 * Reads the nodes of a tree level by level, without verifying seals. Skips the nodes that `isKnown`, and all below them: the subtree of
 * a node never changes.
 */
export function walkTree(
  database: Database,
  { tree, state }: { readonly tree: Tree; readonly state: StateId },
  visitor: {
    readonly isKnown: (node: number) => boolean
    /** Leaves are at level 0: their children are elements. */
    readonly visit: (node: number, children: readonly number[], level: number) => void
  },
): void {
  let ids = tree.length === 0 ? [] : [tree.node]
  for (let level = tree.height; level >= 0 && ids.length > 0; level -= 1) {
    const fresh = ids.filter((id) => !visitor.isKnown(id))
    const below = readNodes(database, { ids: fresh, state })
    for (const [index, children] of below.entries())
      visitor.visit(fresh[index] ?? 0, children, level)
    ids = below.flat()
  }
}
