// Removes what no checkpoint leads to any more, in small transactions, beside writers in other processes.
//
// First everything that is held is marked, without a lock. Then, in each transaction, the states that were added
// since are marked too, and some of what is not marked goes. A writer may use again what was nobody's at the mark:
// what it remembers, which ends with the first removal (`state_generation`), and elements, which it finds by their
// hash; either way the new state is there for the next transaction to see. See docs/store.md#collection.
import { parseStateId } from '../../../model/index.js'
import type { Database, SqlRow } from '../../../system/index.js'
import { number } from '../../rows.js'
import { readNodes } from '../tree/node-rows.js'
import { type Part, parseBody, type Tree } from '../state-body.js'

export type CollectedStates = {
  readonly states: number
  readonly nodes: number
  readonly elements: number
}

const AT_ONCE = 500
const ROOTS = `SELECT id, body FROM states WHERE id > ? AND id <= ? AND (
  id IN (SELECT state FROM checkpoints WHERE state IS NOT NULL) OR id IN (SELECT state FROM graph_checkpoints))
  ORDER BY id LIMIT ${AT_ONCE}`

/** `pause` lets others have a turn. */
export async function collectStates(
  database: Database,
  pause: () => Promise<void>,
): Promise<CollectedStates> {
  const marks = new Marks(database)
  await marks.all(pause)
  const counts = { states: 0, nodes: 0, elements: 0 }
  for (const table of ['states', 'nodes', 'elements'] as const) {
    for (let after = 0; ; ) {
      // Without a lock first: what came since may be much, and writers would wait for it.
      marks.catchUp()
      const batch = database.transaction(() => marks.sweep(table, after))
      counts[table] += batch.removed
      if (batch.last === undefined) break
      after = batch.last
      await pause()
    }
  }
  return counts
}

/** What these states take, each element once. */
export function bytesOfStates(database: Database, states: readonly number[]): number {
  const marks = new Marks(database)
  marks.only(states)
  return marks.bytes()
}

class Marks {
  readonly #database: Database
  readonly #live = {
    states: new Set<number>(),
    nodes: new Set<number>(),
    elements: new Set<number>(),
  }
  /** The newest row of each table at the beginning; later ones are not looked at. */
  readonly #newest: Readonly<Record<keyof CollectedStates, number>>
  /** The newest state that has been marked. */
  #seen = 0
  #isAnnounced = false

  constructor(database: Database) {
    this.#database = database
    const newest = (table: string) =>
      number(database.get(`SELECT coalesce(max(id), 0) AS id FROM ${table}`) ?? {}, 'id')
    this.#newest = {
      states: newest('states'),
      nodes: newest('nodes'),
      elements: newest('elements'),
    }
  }

  async all(pause: () => Promise<void>): Promise<void> {
    const { states: last } = this.#newest
    for (let after = 0; ; ) {
      const rows = this.#database.all(ROOTS, after, last)
      for (const row of rows) this.#mark(row)
      if (rows.length < AT_ONCE) break
      after = number(rows.at(-1) ?? {}, 'id')
      await pause()
    }
    this.#seen = last
  }

  only(states: readonly number[]): void {
    const sql = 'SELECT id, body FROM states WHERE id IN (SELECT value FROM json_each(?))'
    for (const row of this.#database.all(sql, JSON.stringify(states))) this.#mark(row)
  }

  bytes(): number {
    const row = this.#database.get(
      `SELECT coalesce(sum(octet_length(text)), 0) AS bytes FROM elements
       WHERE id IN (SELECT value FROM json_each(?))`,
      JSON.stringify([...this.#live.elements]),
    )
    return number(row ?? {}, 'bytes')
  }

  /** Inside a transaction. `last` is undefined once the table is through. */
  sweep(
    table: keyof CollectedStates,
    after: number,
  ): { readonly removed: number; readonly last: number | undefined } {
    this.catchUp()
    const rows = this.#database.all(
      `SELECT id FROM ${table} WHERE id > ? AND id <= ? ORDER BY id LIMIT ${AT_ONCE}`,
      after,
      this.#newest[table],
    )
    const ids = rows.map((row) => number(row, 'id'))
    const doomed = ids.filter((id) => !this.#live[table].has(id))
    // A state that had lost its last checkpoint may have been given another one.
    const kept = table === 'states' ? this.#markHeld(doomed) : new Set<number>()
    const gone = doomed.filter((id) => !kept.has(id))
    if (gone.length > 0) {
      this.#announce()
      const sql = `DELETE FROM ${table} WHERE id IN (SELECT value FROM json_each(?))`
      this.#database.run(sql, JSON.stringify(gone))
    }
    return { removed: gone.length, last: ids.length < AT_ONCE ? undefined : ids.at(-1) }
  }

  /** All new ones, also those that no checkpoint has yet: they are whole, and of a transaction that is over. */
  catchUp(): void {
    const rows = this.#database.all(
      'SELECT id, body FROM states WHERE id > ? ORDER BY id',
      this.#seen,
    )
    for (const row of rows) this.#mark(row)
    this.#seen = rows.length === 0 ? this.#seen : number(rows.at(-1) ?? {}, 'id')
  }

  #markHeld(ids: readonly number[]): Set<number> {
    const rows = this.#database.all(
      `SELECT id, body FROM states WHERE id IN (SELECT value FROM json_each(?))
       AND (EXISTS (SELECT 1 FROM checkpoints WHERE state = states.id)
         OR EXISTS (SELECT 1 FROM graph_checkpoints WHERE state = states.id))`,
      JSON.stringify(ids),
    )
    for (const row of rows) this.#mark(row)
    return new Set(rows.map((row) => number(row, 'id')))
  }

  /** From now on no process relies on what it remembers to be stored. */
  #announce(): void {
    if (!this.#isAnnounced) this.#database.run('UPDATE state_generation SET number = number + 1')
    this.#isAnnounced = true
  }

  #mark(row: SqlRow): void {
    const id = number(row, 'id')
    if (this.#live.states.has(id)) return
    this.#live.states.add(id)
    this.#markPart(parseBody(String(row['body']), parseStateId(id)).root, id)
  }

  #markPart(part: Part, state: number): void {
    switch (part.kind) {
      case 'primitive':
        return
      case 'element':
        this.#live.elements.add(part.id)
        return
      case 'object':
        for (const [, inner] of part.entries) this.#markPart(inner, state)
        return
      default:
        this.#markTree(part.tree, state)
    }
  }

  /** Level by level. What is marked has been followed: what is under a node never changes. */
  #markTree(tree: Tree, state: number): void {
    if (tree.length === 0) return
    let ids = [tree.node]
    for (let level = tree.height; level >= 0; level -= 1) {
      const fresh = ids.filter((id) => !this.#live.nodes.has(id))
      for (const id of fresh) this.#live.nodes.add(id)
      const below = readNodes(this.#database, { ids: fresh, state: parseStateId(state) }).flat()
      if (level === 0) for (const id of below) this.#live.elements.add(id)
      ids = below
    }
  }
}
