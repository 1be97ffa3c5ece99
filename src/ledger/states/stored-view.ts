// What a process knows to be stored of the state it wrote last: for every value that became an element, the row that holds
// it and the shape it had. The next save compares with this instead of writing everything again.
import type { RecordedList } from '../../base/index.js'
import type { StateId, ValuePath } from '../../model/index.js'
import { Captures } from './captures.js'
import type { KnownTree } from './tree/list-tree.js'

/** A stored element: its row, and the hash that names it. */
export type Slot = {
  /** Of an entry of a large object. */
  readonly key: string | undefined
  readonly id: number
  readonly hash: string
  /** Zero bits at the end of the hash (chunks.ts). */
  readonly zeros: number
}

/** The elements of one list, of one large object, or of one single value. */
export type Sequence = {
  readonly kind: 'list' | 'entries' | 'value'
  readonly path: ValuePath
  readonly list: RecordedList<Slot>
  readonly known: KnownTree
  /** The objects of the state that contain the elements, outermost first. An element must not refer to one of them. */
  containers: readonly object[]
}

export type StoredView = {
  /** Of the store, when this was written. */
  generation: number | undefined
  /** Part of all states written from here, so that a row is never confused with one that was rolled back. */
  mark: string
  last: { readonly id: StateId; readonly body: string; readonly root: string } | undefined
  /** By kind and path. */
  sequences: Map<string, Sequence>
}

/** One per session and process. It keeps no more alive than the objects of the last state. */
export class StateMemory {
  /** For StateStore only. */
  view: StoredView = emptyView()
  /** For StateStore only. */
  readonly captures = new Captures()

  /** Must be called when a transaction in which a state was written has failed. */
  forget(): void {
    this.view = emptyView()
  }
}

function emptyView(): StoredView {
  return { generation: undefined, mark: '', last: undefined, sequences: new Map() }
}
