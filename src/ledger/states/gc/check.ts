// Verifies that states can be read, without decoding their values. This works without the key of an encrypted store.
import { parseStateId, SavestateError, type StateId } from '../../../model/index.js'
import type { Database } from '../../../system/index.js'
import { number } from '../../rows.js'
import { collectReferences, parseBody, type Reference } from '../state-body.js'
import { hashElement, SEALED } from '../tree/element-rows.js'
import { readNodes } from '../tree/node-rows.js'

export type StateFault = { readonly state: number; readonly message: string }

const BATCH_SIZE = 500

/** The faults of all states that a checkpoint holds. `quick` only checks that their rows exist. */
export function findStateFaults(
  database: Database,
  { quick }: { readonly quick: boolean },
): StateFault[] {
  const held = `SELECT state FROM checkpoints WHERE state IS NOT NULL UNION SELECT state FROM graph_checkpoints`
  const ids = database.all(held).map((row) => number(row, 'state'))
  const checker = quick ? undefined : new StateChecker(database)
  return ids.flatMap((state) => {
    const body = database.get('SELECT body FROM states WHERE id = ?', state)?.['body']
    const message =
      typeof body === 'string'
        ? checker?.findFault(body, parseStateId(state))
        : 'its row is missing'
    return message === undefined ? [] : { state, message }
  })
}

class StateChecker {
  readonly #database: Database
  /** The elements whose text matches their hash, or is sealed. */
  readonly #sound: ReadonlySet<number>
  /** The number of elements below each sound node, by id and level. */
  readonly #counts = new Map<string, number>()

  constructor(database: Database) {
    this.#database = database
    this.#sound = findSoundElements(database)
  }

  findFault(body: string, state: StateId): string | undefined {
    try {
      for (const part of collectReferences(parseBody(body, state).root)) {
        const fault = this.#findFaultIn(part, state)
        if (fault !== undefined) return fault
      }
      return undefined
    } catch (error) {
      if (error instanceof SavestateError) return error.message
      throw error
    }
  }

  #findFaultIn(part: Reference, state: StateId): string | undefined {
    if (part.kind === 'element')
      return this.#sound.has(part.id) ? undefined : `element ${part.id} is missing or damaged`
    const { length, height, node } = part.tree
    const count = length === 0 ? 0 : this.#countElements(node, height, state)
    if (count === undefined) return 'an element of a list is missing or damaged'
    return count === length ? undefined : 'a list has the wrong length'
  }

  /** Undefined if an element is missing or damaged. Throws SavestateError if a node is. */
  #countElements(node: number, level: number, state: StateId): number | undefined {
    const key = `${node} ${level}`
    const known = this.#counts.get(key)
    if (known !== undefined) return known
    const children = readNodes(this.#database, { ids: [node], state }).flat()
    let count = 0
    for (const child of children) {
      const soundCount = this.#sound.has(child) ? 1 : undefined
      const inside = level === 0 ? soundCount : this.#countElements(child, level - 1, state)
      if (inside === undefined) return undefined
      count += inside
    }
    this.#counts.set(key, count)
    return count
  }
}

function findSoundElements(database: Database): Set<number> {
  const sound = new Set<number>()
  for (let last = 0; ; ) {
    const sql = `SELECT id, hash, form, text FROM elements WHERE id > ? ORDER BY id LIMIT ${BATCH_SIZE}`
    const rows = database.all(sql, last)
    for (const row of rows) {
      last = number(row, 'id')
      const form = number(row, 'form')
      const digits = hashElement({ form, text: String(row['text']) }, { key: undefined })
      const named = row['hash'] instanceof Uint8Array ? Buffer.from(row['hash']) : Buffer.alloc(0)
      if (form === SEALED || named.toString('hex') === digits) sound.add(last)
    }
    if (rows.length < BATCH_SIZE) return sound
  }
}
