// Reads states, nodes and elements as a graph with sizes, to compute how much smaller the ledger gets without some of them. Works
// without the key of an encrypted store.
import { parseStateId, WeightedGraph } from '../../../model/index.js'
import type { Database } from '../../../system/index.js'
import { number } from '../../rows.js'
import { collectReferences, parseBody } from '../state-body.js'
import { walkTree } from '../tree/node-rows.js'

const BATCH_SIZE = 500
const ELEMENTS_PER_BATCH = 5000

/** The id of a state in the graph. */
export function stateGraphId(id: number): string {
  return `state ${id}`
}

/** All states of the ledger. No state is live yet. */
export function readStateGraph(database: Database): WeightedGraph {
  const graph = new WeightedGraph()
  const nodes = new Set<number>()
  const elements = new Set<number>()
  const nameElements = (ids: readonly number[]) =>
    ids.map((id) => {
      elements.add(id)
      return `element ${id}`
    })
  const visitor = {
    isKnown: (id: number) => nodes.has(id),
    visit: (id: number, children: readonly number[], level: number) => {
      nodes.add(id)
      const names = level === 0 ? nameElements(children) : children.map((child) => `node ${child}`)
      graph.setChildren(`node ${id}`, names)
      graph.setBytes(`node ${id}`, 2 * children.length)
    },
  }
  const addState = (id: number, body: string) => {
    const state = parseStateId(id)
    const children = collectReferences(parseBody(body, state).root).flatMap((part) => {
      if (part.kind === 'element') return nameElements([part.id])
      walkTree(database, { tree: part.tree, state }, visitor)
      return part.tree.length === 0 ? [] : [`node ${part.tree.node}`]
    })
    graph.setBytes(stateGraphId(id), body.length)
    graph.setChildren(stateGraphId(id), children)
  }
  const sql = `SELECT id, body FROM states WHERE id > ? ORDER BY id LIMIT ${BATCH_SIZE}`
  for (let after = 0; ; ) {
    const rows = database.all(sql, after)
    for (const row of rows) addState(number(row, 'id'), String(row['body']))
    if (rows.length < BATCH_SIZE) break
    after = number(rows.at(-1) ?? {}, 'id')
  }
  addElementBytes(database, graph, [...elements])
  return graph
}

function addElementBytes(database: Database, graph: WeightedGraph, ids: readonly number[]): void {
  const sql = `SELECT id, octet_length(text) AS bytes FROM elements
    WHERE id IN (SELECT value FROM json_each(?))`
  for (let start = 0; start < ids.length; start += ELEMENTS_PER_BATCH) {
    const batch = ids.slice(start, start + ELEMENTS_PER_BATCH)
    for (const row of database.all(sql, JSON.stringify(batch)))
      graph.setBytes(`element ${number(row, 'id')}`, number(row, 'bytes'))
  }
}
