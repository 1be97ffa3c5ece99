// Collects the elements, nodes and states of a segment: those that the log does not have yet. It walks from a state down, and stops at
// nodes that have a number, because everything below them was sent before.
import {
  invariant,
  type LogNumber,
  mapRoot,
  measureElement,
  measureNode,
  parseStateId,
  type SegmentContent,
  type StateId,
} from '../../model/index.js'
import type { Database } from '../../system/index.js'
import { text } from '../rows.js'
import { NO_SIZE, type LogNumbers, type Numbered } from './numbers.js'
import { sharedDetails } from './shared-details.js'
import { collectReferences, openBody, parseBody, type Tree } from '../states/state-body.js'
import { missingError } from '../states/gc/damage.js'
import { PLAIN, readElementRows } from '../states/tree/element-rows.js'
import { openNodes } from '../states/tree/node-rows.js'
import type { Vault } from '../encryption/index.js'

type Content = Pick<SegmentContent, 'elements' | 'nodes' | 'states'>

type NewNode = { readonly id: number; readonly level: number; readonly children: readonly number[] }

export class SegmentWriter {
  readonly #database: Database
  readonly #vault: Vault
  readonly #numbers: LogNumbers
  readonly #elements: [LogNumber, number, string][] = []
  readonly #nodes: [LogNumber, LogNumber[]][] = []
  readonly #states: [LogNumber, unknown][] = []

  constructor(database: Database, vault: Vault, numbers: LogNumbers) {
    this.#database = database
    this.#vault = vault
    this.#numbers = numbers
  }

  get content(): Content {
    return { elements: this.#elements, nodes: this.#nodes, states: this.#states }
  }

  numberOfCall(seq: number): LogNumber {
    const known = this.#numbers.find('call', seq) ?? this.#numbers.assign('call', seq, NO_SIZE)
    return known.number
  }

  /** Undefined if the call was never sent. */
  knownCall(seq: number): LogNumber | undefined {
    return this.#numbers.find('call', seq)?.number
  }

  numberOfDetails(hash: string): LogNumber {
    const known = this.#numbers.find('details', hash)
    if (known !== undefined) return known.number
    const row = this.#database.get('SELECT json FROM details WHERE hash = ?', hash)
    const json = sharedDetails(text(row ?? {}, 'json'))
    const { number } = this.#numbers.assign('details', hash, NO_SIZE)
    this.#elements.push([number, PLAIN, json])
    return number
  }

  numberOfState(id: number): LogNumber {
    const known = this.#numbers.find('state', id)
    if (known !== undefined) return known.number
    const state = parseStateId(id)
    const stored = this.#database.get('SELECT body FROM states WHERE id = ?', id)?.['body']
    if (typeof stored !== 'string') throw missingError('the row', state)
    const opened = openBody(stored, state, this.#vault)
    if (opened === undefined) throw missingError('an intact row', state)
    const references = collectReferences(parseBody(opened, state).root)
    this.#addElements(
      references.flatMap((part) => (part.kind === 'element' ? [part.id] : [])),
      state,
    )
    for (const part of references) if (part.kind !== 'element') this.#addTree(part.tree, state)
    const [, , root] = JSON.parse(opened) as readonly unknown[]
    const mapped = mapRoot(
      root,
      ({ kind, id: row }) => this.#require(kind === 'element' ? 'element' : 'node', row).number,
    )
    const { number } = this.#numbers.assign('state', id, NO_SIZE)
    this.#states.push([number, mapped])
    return number
  }

  /** Level by level from the top. Then the new nodes get their numbers, leaves first. */
  #addTree(tree: Tree, state: StateId): void {
    const levels: NewNode[][] = []
    let ids: readonly number[] = tree.length === 0 ? [] : [tree.node]
    for (let level = tree.height; level >= 0 && ids.length > 0; level -= 1) {
      const fresh = this.#withoutKnown('node', ids)
      const rows = { database: this.#database, vault: this.#vault, key: undefined }
      const children = openNodes(rows, { ids: fresh, state })
      levels.push(fresh.map((id, index) => ({ id, level, children: children[index] ?? [] })))
      ids = children.flat()
    }
    this.#addElements(ids, state)
    for (const nodes of levels.reverse()) for (const node of nodes) this.#addNode(node)
  }

  #addNode({ id, level, children }: NewNode): void {
    const things = children.map((child) => this.#require(level === 0 ? 'element' : 'node', child))
    const { number } = this.#numbers.assign('node', id, measureNode(things))
    this.#nodes.push([number, things.map((thing) => thing.number)])
  }

  #addElements(ids: readonly number[], state: StateId): void {
    const fresh = this.#withoutKnown('element', ids)
    const rows = { database: this.#database, vault: this.#vault, key: undefined }
    const elements = fresh.length === 0 ? [] : readElementRows(rows, { ids: fresh, state })
    for (const [index, { form, text: json }] of elements.entries()) {
      const id = fresh[index] ?? 0
      const { number } = this.#numbers.assign('element', id, measureElement(json))
      this.#elements.push([number, form, json])
    }
  }

  #withoutKnown(kind: 'element' | 'node', ids: readonly number[]): number[] {
    const known = this.#numbers.findAll(kind, ids)
    return [...new Set(ids)].filter((id) => !known.has(id))
  }

  #require(kind: 'element' | 'node', id: number): Numbered {
    const found = this.#numbers.find(kind, id)
    invariant(found !== undefined, 'a part of a shared state has a number')
    return found
  }
}
