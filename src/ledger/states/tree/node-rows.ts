// Nodes in their table.
import type { StateId } from '../../../model/index.js'
import type { Database } from '../../../system/index.js'
import { number } from '../../rows.js'
import type { Place } from '../../encryption/index.js'
import { altered, lacking, malformed } from '../gc/damage.js'
import { idsOf, packNode, type Run, sealOf, unpackRuns, withSeal } from './node-body.js'
import { nextId, type Rows } from '../rows.js'
import type { Tree } from '../state-body.js'

/** Nodes of one level of a tree that are stored, by their bodies. */
export type KnownNodes = Map<string, number>

/** Adds the node unless it is known. Nodes have no index: only what is remembered is found again. */
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
  if (key === undefined) {
    const sql = 'INSERT INTO nodes (body) VALUES (?) RETURNING id'
    return number(database.get(sql, body) ?? {}, 'id')
  }
  const id = nextId(database, 'nodes')
  const tag = key.tagOf(body, nodePlace(id))
  const sealed = withSeal(body, { keyId: key.id, tag })
  database.run('INSERT INTO nodes (id, body) VALUES (?, ?)', id, sealed)
  return id
}

export function nodePlace(id: number): Place {
  return ['nodes', id]
}

export function nodeKey(ids: readonly number[]): string {
  return packNode(ids).toString('latin1')
}

type Wanted = { readonly ids: readonly number[]; readonly state: StateId }

/** The children of each of these nodes, as they are now: whether they are those that were written is not looked at. */
export function readNodes(database: Database, { ids, state }: Wanted): number[][] {
  return readBodies(database, { ids, state }).map((body) => runsIn(body, state).flatMap(idsOf))
}

/** The same, for those who read states. Throws KEY_MISSING, KEY_WRONG. */
export function openNodes(rows: Rows, wanted: Wanted): number[][] {
  return openRuns(rows, wanted).map((runs) => runs.flatMap(idsOf))
}

function openRuns({ database, vault }: Rows, { ids, state }: Wanted): Run[][] {
  return readBodies(database, { ids, state }).map((body, place) => {
    const seal = sealOf(body)
    if (seal === undefined) return runsIn(body, state)
    const { keyId, tag, packed } = seal
    const id = ids[place] ?? 0
    if (!vault.keyFor(keyId).isTagOf(tag, packed, nodePlace(id))) throw altered(`node ${id}`, state)
    return runsIn(packed, state)
  })
}

function runsIn(body: Uint8Array, state: StateId): Run[] {
  const runs = unpackRuns(body)
  if (runs === undefined) throw malformed('a node of another form', { state })
  return runs
}

function readBodies(database: Database, { ids, state }: Wanted): Uint8Array[] {
  const rows = database.all(
    `SELECT node.id, node.body
     FROM json_each(?) AS wanted CROSS JOIN nodes AS node ON node.id = wanted.value`,
    JSON.stringify(ids),
  )
  if (rows.some((row, place) => row['id'] !== ids[place]) || rows.length !== ids.length)
    throw lacking('nodes', state)
  return rows.map(({ body }) => (body instanceof Uint8Array ? body : new Uint8Array()))
}

/** The ids of all elements of a list, in order. */
export function readList(
  rows: Rows,
  { tree, state }: { readonly tree: Tree; readonly state: StateId },
): readonly Run[] {
  if (tree.length === 0) return []
  let runs: readonly Run[] = [{ first: tree.node, count: 1 }]
  for (let level = tree.height; level >= 0; level -= 1)
    runs = joined(openRuns(rows, { ids: runs.flatMap(idsOf), state }).flat())
  if (runs.reduce((sum, { count }) => sum + count, 0) !== tree.length)
    throw malformed('a list of another length', { state })
  return runs
}

/** Where one goes on after another, they are one. */
function joined(runs: readonly Run[]): Run[] {
  const longest: Run[] = []
  for (const { first, count } of runs) {
    const last = longest.at(-1)
    if (last !== undefined && last.first + last.count === first) last.count += count
    else longest.push({ first, count })
  }
  return longest
}
