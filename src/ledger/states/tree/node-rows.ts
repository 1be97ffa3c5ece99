// Nodes in their table.
import type { StateId } from '../../../model/index.js'
import type { Database } from '../../../system/index.js'
import { number } from '../../rows.js'
import type { SealContext } from '../../encryption/index.js'
import { alteredError, missingError, malformedError } from '../gc/damage.js'
import { expandRun, packNode, type Run, parseSeal, unpackRuns, addSeal } from './node-body.js'
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
  const tag = key.computeTag(body, nodeContext(id))
  const sealed = addSeal(body, { keyId: key.id, tag })
  database.run('INSERT INTO nodes (id, body) VALUES (?, ?)', id, sealed)
  return id
}

export function nodeContext(id: number): SealContext {
  return ['nodes', id]
}

export function nodeKey(ids: readonly number[]): string {
  return packNode(ids).toString('latin1')
}

type Wanted = { readonly ids: readonly number[]; readonly state: StateId }

/** The children of each of these nodes, as they are now: whether they are those that were written is not looked at. */
export function readNodes(database: Database, { ids, state }: Wanted): number[][] {
  return readBodies(database, { ids, state }).map((body) => runsIn(body, state).flatMap(expandRun))
}

/** The same, for those who read states. Throws KEY_MISSING, KEY_WRONG. */
export function openNodes(rows: Rows, wanted: Wanted): number[][] {
  return openRuns(rows, wanted).map((runs) => runs.flatMap(expandRun))
}

function openRuns({ database, vault }: Rows, { ids, state }: Wanted): Run[][] {
  return readBodies(database, { ids, state }).map((body, index) => {
    const seal = parseSeal(body)
    if (seal === undefined) return runsIn(body, state)
    const { keyId, tag, packed } = seal
    const id = ids[index] ?? 0
    if (!vault.keyFor(keyId).verifyTag(tag, packed, nodeContext(id)))
      throw alteredError(`node ${id}`, state)
    return runsIn(packed, state)
  })
}

function runsIn(body: Uint8Array, state: StateId): Run[] {
  const runs = unpackRuns(body)
  if (runs === undefined) throw malformedError('a node of another form', { state })
  return runs
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
): readonly Run[] {
  if (tree.length === 0) return []
  let runs: readonly Run[] = [{ first: tree.node, count: 1 }]
  for (let level = tree.height; level >= 0; level -= 1)
    runs = joined(openRuns(rows, { ids: runs.flatMap(expandRun), state }).flat())
  if (runs.reduce((sum, { count }) => sum + count, 0) !== tree.length)
    throw malformedError('a list of another length', { state })
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
