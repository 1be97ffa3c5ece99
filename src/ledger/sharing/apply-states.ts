// Writes the elements, nodes and states of checked segments, as rows of this ledger with ids of its own.
import {
  type LogNumber,
  mapRoot,
  type NumberTable,
  parseStateId,
  type SegmentContent,
} from '../../model/index.js'
import type { Database } from '../../system/index.js'
import { storeDetails } from '../checkpoints/detail-rows.js'
import type { SealingKey } from '../encryption/index.js'
import { insertRow, number, text } from '../rows.js'
import { elementColumns, hashElement } from '../states/tree/element-rows.js'
import { packNode } from '../states/tree/node-body.js'
import { sealNode } from '../states/tree/node-rows.js'
import { nextId } from '../states/rows.js'
import { bodyText, parseBody, sealBody } from '../states/state-body.js'
import type { Local, Numbered } from './numbers.js'
import { parseSharedDetails } from './shared-details.js'

/** The row of each number. */
export type Locals = ReadonlyMap<LogNumber, Local>

/**
 * `things` are the numbers that `checkNumbers` has checked, `known` the rows of those from before. Returns the numbers of the new rows.
 */
export function writeContents(
  database: Database,
  contents: readonly SegmentContent[],
  {
    key,
    things,
    known,
  }: {
    readonly key: SealingKey | undefined
    readonly things: NumberTable
    readonly known: Locals
  },
): readonly Numbered[] {
  const writer = new ContentWriter(database, { key, things, locals: new Map(known) })
  for (const { elements, nodes, states } of contents) {
    for (const element of elements) writer.addElement(...element)
    for (const node of nodes) writer.addNode(...node)
    for (const state of states) writer.addState(...state)
  }
  return writer.added
}

class ContentWriter {
  readonly added: Numbered[] = []
  readonly #database: Database
  readonly #key: SealingKey | undefined
  readonly #things: NumberTable
  readonly #locals: Map<LogNumber, Local>
  /** The ids of the next rows. No other process writes during the transaction. */
  readonly #next: { elements: number; nodes: number; states: number }
  readonly #mark: string

  constructor(
    database: Database,
    {
      key,
      things,
      locals,
    }: {
      readonly key: SealingKey | undefined
      readonly things: NumberTable
      readonly locals: Map<LogNumber, Local>
    },
  ) {
    this.#database = database
    this.#key = key
    this.#things = things
    this.#locals = locals
    this.#next = {
      elements: nextId(database, 'elements'),
      nodes: nextId(database, 'nodes'),
      states: nextId(database, 'states'),
    }
    this.#mark = text(database.get('SELECT hex(randomblob(5)) AS mark') ?? {}, 'mark')
  }

  addElement(n: LogNumber, form: number, json: string): void {
    if (this.#things.get(n)?.kind === 'details')
      this.#add(n, storeDetails(this.#database, parseSharedDetails(json)))
    else this.#add(n, this.#storeElement({ form, text: json }))
  }

  addNode(n: LogNumber, children: readonly LogNumber[]): void {
    const id = this.#next.nodes
    this.#next.nodes += 1
    const packed = packNode(children.map((child) => this.#rowOf(child)))
    insertRow(this.#database, 'nodes', { id, body: sealNode(packed, id, this.#key) })
    this.#add(n, id)
  }

  addState(n: LogNumber, root: unknown): void {
    const id = parseStateId(this.#next.states)
    this.#next.states += 1
    const mapped = mapRoot(root, (reference) => this.#rowOf(reference.id))
    const body = bodyText({ mark: this.#mark, root: JSON.stringify(mapped) })
    const sealed =
      this.#key === undefined
        ? body
        : sealBody(body, { id, root: parseBody(body, id).root, key: this.#key })
    insertRow(this.#database, 'states', { id, body: sealed })
    this.#add(n, id)
  }

  /** As `storeElement` of the states, without a query for each id. */
  #storeElement(element: { readonly form: number; readonly text: string }): number {
    const hash = hashElement(element, { key: this.#key })
    const sql = 'SELECT id FROM elements WHERE hash = ?'
    const known = this.#database.get(sql, Buffer.from(hash, 'hex'))
    if (known !== undefined) return number(known, 'id')
    const id = this.#next.elements
    this.#next.elements += 1
    const columns = elementColumns({ ...element, hash }, id, this.#key)
    insertRow(this.#database, 'elements', { id, ...columns })
    return id
  }

  #rowOf(n: LogNumber): number {
    return Number(this.#locals.get(n))
  }

  #add(n: LogNumber, local: Local): void {
    this.#locals.set(n, local)
    const thing = this.#things.get(n)
    if (thing !== undefined) this.added.push({ ...thing, number: n, local })
  }
}
