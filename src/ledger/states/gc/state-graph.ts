// States, their nodes and elements as a graph with sizes: for how much smaller the ledger is without some of them. Works
// without the key of an encrypted store.
import { parseStateId, WeightedGraph } from '../../../model/index.js'
import type { Database, SqlRow } from '../../../system/index.js'
import { number } from '../../rows.js'
import { readNodes } from '../tree/node-rows.js'
import { type Part, parseBody, type Tree } from '../state-body.js'

const AT_ONCE = 500

/** The id of a state in the graph. */
export function stateRoot(id: number): string {
  return `state ${id}`
}

/** All states of the ledger; none is live in the beginning. */
export function readStateGraph(database: Database): WeightedGraph {
  const reader = new GraphReader(database)
  const sql = `SELECT id, body FROM states WHERE id > ? ORDER BY id LIMIT ${AT_ONCE}`
  for (let after = 0; ; ) {
    const rows = database.all(sql, after)
    for (const row of rows) reader.addState(row)
    if (rows.length < AT_ONCE) break
    after = number(rows.at(-1) ?? {}, 'id')
  }
  reader.addElementBytes()
  return reader.graph
}

class GraphReader {
  readonly graph = new WeightedGraph()
  readonly #database: Database
  readonly #nodes = new Set<number>()
  readonly #elements = new Set<number>()

  constructor(database: Database) {
    this.#database = database
  }

  addState(row: SqlRow): void {
    const [id, body] = [number(row, 'id'), String(row['body'])]
    const root = stateRoot(id)
    this.graph.setBytes(root, body.length)
    this.graph.setChildren(root, this.#below(parseBody(body, parseStateId(id)).root, id))
  }

  addElementBytes(): void {
    const ids = [...this.#elements]
    const sql = `SELECT id, octet_length(text) AS bytes FROM elements
      WHERE id IN (SELECT value FROM json_each(?))`
    for (let at = 0; at < ids.length; at += 10 * AT_ONCE)
      for (const row of this.#database.all(sql, JSON.stringify(ids.slice(at, at + 10 * AT_ONCE))))
        this.graph.setBytes(`element ${number(row, 'id')}`, number(row, 'bytes'))
  }

  #below(part: Part, state: number): string[] {
    switch (part.kind) {
      case 'primitive':
        return []
      case 'element':
        return this.#elementsOf([part.id])
      case 'object':
        return part.entries.flatMap(([, inner]) => this.#below(inner, state))
      default:
        this.#addTree(part.tree, state)
        return part.tree.length === 0 ? [] : [`node ${part.tree.node}`]
    }
  }

  /** Level by level. What is below a node never changes, so each is read once. */
  #addTree(tree: Tree, state: number): void {
    let ids = tree.length === 0 ? [] : [tree.node]
    for (let level = tree.height; level >= 0 && ids.length > 0; level -= 1) {
      const fresh = ids.filter((id) => !this.#nodes.has(id))
      const below = readNodes(this.#database, { ids: fresh, state: parseStateId(state) })
      for (const [index, children] of below.entries()) {
        const id = fresh[index] ?? 0
        this.#nodes.add(id)
        const names =
          level === 0 ? this.#elementsOf(children) : children.map((child) => `node ${child}`)
        this.graph.setChildren(`node ${id}`, names)
        this.graph.setBytes(`node ${id}`, 2 * children.length)
      }
      ids = below.flat()
    }
  }

  #elementsOf(ids: readonly number[]): string[] {
    for (const id of ids) this.#elements.add(id)
    return ids.map((id) => `element ${id}`)
  }
}
