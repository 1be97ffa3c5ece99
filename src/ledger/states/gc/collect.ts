// Removes states, nodes and elements that no checkpoint refers to, in small transactions, while other processes write.
//
// First it marks all rows in use, without a lock. Each transaction then marks the states that were added since, and removes some of the
// unmarked rows. A writer may start to use an unmarked row again: a row that it remembers, until the first removal raises
// `state_generation`, or an element that it finds by its hash. In both cases the next transaction sees the new state. See
// docs/guide/store.md#collection.
import { parseStateId } from '../../../model/index.js'
import type { Database, SqlRow } from '../../../system/index.js'
import { number } from '../../rows.js'
import { forgetCollected } from '../../sharing/numbers.js'
import { walkTree } from '../tree/node-rows.js'
import { collectReferences, parseBody } from '../state-body.js'

export type CollectedStates = {
  readonly states: number
  readonly nodes: number
  readonly elements: number
}

const BATCH_SIZE = 500
const ROOTS = `SELECT id, body FROM states WHERE id > ? AND id <= ? AND (
  id IN (SELECT state FROM checkpoints WHERE state IS NOT NULL) OR id IN (SELECT state FROM graph_checkpoints))
  ORDER BY id LIMIT ${BATCH_SIZE}`

/** `pause` lets other processes write between two batches. */
export async function collectStates(
  database: Database,
  pause: () => Promise<void>,
): Promise<CollectedStates> {
  const marks = new Marks(database)
  await marks.markAll(pause)
  const counts = { states: 0, nodes: 0, elements: 0 }
  for (const table of ['states', 'nodes', 'elements'] as const) {
    for (let after = 0; ; ) {
      // Without a lock first: there may be many new states, and writers would have to wait.
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

/** The size of these states, counting each element once. */
export function bytesOfStates(database: Database, states: readonly number[]): number {
  const marks = new Marks(database)
  marks.markOnly(states)
  return marks.countBytes()
}

class Marks {
  readonly #database: Database
  readonly #live = {
    states: new Set<number>(),
    nodes: new Set<number>(),
    elements: new Set<number>(),
  }
  /** The newest row of each table at the start. Later rows are never removed. */
  readonly #newest: Readonly<Record<keyof CollectedStates, number>>
  /** The newest state that has been marked. */
  #seen = 0
  #hasRaisedGeneration = false

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

  async markAll(pause: () => Promise<void>): Promise<void> {
    const { states: last } = this.#newest
    for (let after = 0; ; ) {
      const rows = this.#database.all(ROOTS, after, last)
      for (const row of rows) this.#mark(row)
      if (rows.length < BATCH_SIZE) break
      after = number(rows.at(-1) ?? {}, 'id')
      await pause()
    }
    this.#seen = last
  }

  markOnly(states: readonly number[]): void {
    const sql = 'SELECT id, body FROM states WHERE id IN (SELECT value FROM json_each(?))'
    for (const row of this.#database.all(sql, JSON.stringify(states))) this.#mark(row)
  }

  countBytes(): number {
    const row = this.#database.get(
      `SELECT coalesce(sum(octet_length(text)), 0) AS bytes FROM elements
       WHERE id IN (SELECT value FROM json_each(?))`,
      JSON.stringify([...this.#live.elements]),
    )
    return number(row ?? {}, 'bytes')
  }

  /** Inside a transaction. `last` is undefined at the end of the table. */
  sweep(
    table: keyof CollectedStates,
    after: number,
  ): { readonly removed: number; readonly last: number | undefined } {
    this.catchUp()
    const rows = this.#database.all(
      `SELECT id FROM ${table} WHERE id > ? AND id <= ? ORDER BY id LIMIT ${BATCH_SIZE}`,
      after,
      this.#newest[table],
    )
    const ids = rows.map((row) => number(row, 'id'))
    const unmarked = ids.filter((id) => !this.#live[table].has(id))
    // A state without a checkpoint may have got one since.
    const kept = table === 'states' ? this.#markHeld(unmarked) : new Set<number>()
    const removed = unmarked.filter((id) => !kept.has(id))
    if (removed.length > 0) {
      this.#raiseGeneration()
      const sql = `DELETE FROM ${table} WHERE id IN (SELECT value FROM json_each(?))`
      this.#database.run(sql, JSON.stringify(removed))
    }
    return { removed: removed.length, last: ids.length < BATCH_SIZE ? undefined : ids.at(-1) }
  }

  /** Marks all new states, also those without a checkpoint: their transaction is committed, so they are complete. */
  catchUp(): void {
    const sql = 'SELECT id, body FROM states WHERE id > ? ORDER BY id'
    const rows = this.#database.all(sql, this.#seen)
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

  /** Makes every other process discard its view of what is stored. */
  #raiseGeneration(): void {
    if (this.#hasRaisedGeneration) return
    this.#database.run('UPDATE state_generation SET number = number + 1')
    const { states, nodes, elements } = this.#live
    forgetCollected(this.#database, {
      states: { live: states, newest: this.#newest.states },
      nodes: { live: nodes, newest: this.#newest.nodes },
      elements: { live: elements, newest: this.#newest.elements },
    })
    this.#hasRaisedGeneration = true
  }

  #mark(row: SqlRow): void {
    const id = number(row, 'id')
    if (this.#live.states.has(id)) return
    const { states, nodes, elements } = this.#live
    states.add(id)
    const state = parseStateId(id)
    const visitor = {
      isKnown: (node: number) => nodes.has(node),
      visit: (node: number, children: readonly number[], level: number) => {
        nodes.add(node)
        if (level === 0) for (const child of children) elements.add(child)
      },
    }
    for (const part of collectReferences(parseBody(String(row['body']), state).root))
      if (part.kind === 'element') elements.add(part.id)
      else walkTree(this.#database, { tree: part.tree, state }, visitor)
  }
}
