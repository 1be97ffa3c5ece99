// Reads from the ledger for a search: which checkpoints there are, and the stored values of their conversations.
import { hasCode, type ProjectId, type StateId } from '../../model/index.js'
import { SealedTable } from '../ledger-table.js'
import { optional } from '../rows.js'
import { readBody, readItems } from '../states/read-state.js'
import type { Part } from '../states/state-body.js'
import { walkTree } from '../states/tree/node-rows.js'
import type { SearchIndex } from './search-index.js'

/** As the index knows it: if tree and state, the `content`, are others than before, something was removed. */
export type SearchKey = readonly [seq: number, content: string, name: string | null, id: string]

/** The keys of a state that hold a conversation: of an agent, and of a program that uses the SDK. */
const CONVERSATIONS: readonly string[] = ['transcript', 'messages']

export class SearchRows extends SealedTable {
  /** Every checkpoint of a project, oldest first. */
  keys(project: ProjectId): readonly SearchKey[] {
    const row = this.database.get(
      `SELECT group_concat(key) AS keys FROM (
         SELECT json_array(seq, coalesce(tree, '') || ' ' || coalesce(state, ''), name, id) AS key
         FROM checkpoints WHERE project = ? ORDER BY seq)`,
      project,
    )
    return JSON.parse(`[${optional(row ?? {}, 'keys') ?? ''}]`)
  }

  /** Inside a transaction of the index: the elements of the conversation that it does not have yet. */
  newElements(state: StateId, index: SearchIndex): readonly number[] {
    const parts = this.#ifReadable(() => conversationsIn(readBody(this.#rows(), state).root)) ?? []
    return parts.flatMap((part) => {
      if (part.kind === 'element') return index.noteElement(part.id) ? [part.id] : []
      if (part.kind !== 'list') return []
      const found: number[] = []
      const visit = (node: number, children: readonly number[], level: number) => {
        index.noteNode(node)
        if (level === 0) found.push(...children.filter((id) => index.noteElement(id)))
      }
      const visitor = { isKnown: (node: number) => index.hasNode(node), visit }
      this.#ifReadable(() => walkTree(this.database, { tree: part.tree, state }, visitor))
      return found
    })
  }

  /** The values of these elements; without those that are lost, or cannot be opened. */
  values(state: StateId, elements: readonly number[]): readonly unknown[] {
    const read = (ids: readonly number[]) =>
      readItems({ rows: this.#rows(), classes: this.classes, state }, ids)
    return (
      this.#ifReadable(() => read(elements)) ??
      elements.flatMap((id) => this.#ifReadable(() => read([id])) ?? [])
    )
  }

  /** One damaged state must not keep all others from being found. */
  #ifReadable<T>(read: () => T): T | undefined {
    try {
      return read()
    } catch (error) {
      const isExpected = hasCode(
        error,
        'STORE_DAMAGED',
        'STATE_UNREADABLE',
        'KEY_MISSING',
        'KEY_WRONG',
      )
      if (isExpected) return undefined
      throw error
    }
  }

  #rows() {
    return { database: this.database, vault: this.vault, key: undefined }
  }
}

function conversationsIn(root: Part): readonly Part[] {
  if (root.kind !== 'object') return []
  return root.entries.filter(([key]) => CONVERSATIONS.includes(key)).map(([, part]) => part)
}
