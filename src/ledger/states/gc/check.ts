// Verifies that states can be read, without decoding their values. This works without the key of an encrypted store.
import { hash } from 'node:crypto'
import { parseStateId, SavestateError } from '../../../model/index.js'
import type { Database } from '../../../system/index.js'
import { number } from '../../rows.js'
import { unpackNode } from '../tree/node-body.js'
import { type Part, parseBody, type Tree } from '../state-body.js'

export type StateFault = { readonly state: number; readonly message: string }

const AT_ONCE = 500
/** Those of the forms up to this one are named by the hash of what they hold. */
const LAST_OPEN_FORM = 1
const HASH_DIGITS = 40

/** Of every state that a checkpoint holds. `quick`: only whether the rows of the states are there. */
export function stateFaults(
  database: Database,
  { quick }: { readonly quick: boolean },
): StateFault[] {
  const held = `SELECT state FROM checkpoints WHERE state IS NOT NULL UNION SELECT state FROM graph_checkpoints`
  const ids = database.all(held).map((row) => number(row, 'state'))
  const check = new StateCheck(database, { quick })
  return ids.flatMap((state) => {
    const message = check.faultOf(state)
    return message === undefined ? [] : { state, message }
  })
}

class StateCheck {
  readonly #database: Database
  readonly #quick: boolean
  /** Ids of the elements whose text is that of their hash, or cannot be looked into. */
  readonly #sound: ReadonlySet<number>
  /** How many elements stand under a node; undefined if something is wrong there. */
  readonly #nodes = new Map<string, number | undefined>()

  constructor(database: Database, { quick }: { readonly quick: boolean }) {
    this.#database = database
    this.#quick = quick
    this.#sound = quick ? new Set() : soundElements(database)
  }

  faultOf(state: number): string | undefined {
    const body = this.#database.get('SELECT body FROM states WHERE id = ?', state)?.['body']
    if (typeof body !== 'string') return 'its row is missing'
    if (this.#quick) return undefined
    try {
      return this.#faultIn(parseBody(body, parseStateId(state)).root)
    } catch (error) {
      if (error instanceof SavestateError) return error.message
      throw error
    }
  }

  #faultIn(part: Part): string | undefined {
    switch (part.kind) {
      case 'primitive':
        return undefined
      case 'element':
        return this.#sound.has(part.id) ? undefined : `element ${part.id} is missing or damaged`
      case 'object': {
        for (const [, inner] of part.entries) {
          const fault = this.#faultIn(inner)
          if (fault !== undefined) return fault
        }
        return undefined
      }
      default:
        return this.#faultInTree(part.tree)
    }
  }

  #faultInTree({ length, height, node }: Tree): string | undefined {
    const count = length === 0 ? 0 : this.#countUnder(node, height)
    if (count === undefined) return 'a part of a list is missing or damaged'
    return count === length ? undefined : 'a list has the wrong length'
  }

  #countUnder(node: number, height: number): number | undefined {
    const key = `${node} ${height}`
    if (this.#nodes.has(key)) return this.#nodes.get(key)
    const count = this.#count(node, height)
    this.#nodes.set(key, count)
    return count
  }

  #count(node: number, height: number): number | undefined {
    const body = this.#database.get('SELECT body FROM nodes WHERE id = ?', node)?.['body']
    const children = body instanceof Uint8Array ? unpackNode(body) : undefined
    if (children === undefined) return undefined
    if (height === 0)
      return children.every((id) => this.#sound.has(id)) ? children.length : undefined
    let count = 0
    for (const child of children) {
      const below = this.#countUnder(child, height - 1)
      if (below === undefined) return undefined
      count += below
    }
    return count
  }
}

function soundElements(database: Database): Set<number> {
  const sound = new Set<number>()
  for (let last = 0; ; ) {
    const rows = database.all(
      `SELECT id, hash, form, text FROM elements WHERE id > ? ORDER BY id LIMIT ${AT_ONCE}`,
      last,
    )
    for (const row of rows) {
      last = number(row, 'id')
      const form = number(row, 'form')
      const digits = hash('sha256', `${form}${String(row['text'])}`, 'hex').slice(0, HASH_DIGITS)
      const named = row['hash'] instanceof Uint8Array ? Buffer.from(row['hash']) : Buffer.alloc(0)
      if (form > LAST_OPEN_FORM || named.toString('hex') === digits) sound.add(last)
    }
    if (rows.length < AT_ONCE) return sound
  }
}
