// The cached view of the state that a process wrote last: the row and the shape of every value that became an element. The next save
// compares with it instead of writing all values again.
import type { RecordedList } from '../../base/index.js'
import type { StateId, ValuePath } from '../../model/index.js'
import { Captures } from './captures.js'
import type { KnownTree } from './tree/list-tree.js'

/** A stored element. */
export type Slot = {
  /** Only for an entry of a large object. */
  readonly key: string | undefined
  readonly id: number
  readonly hash: string
  /** Zero bits at the end of the hash (list-tree.ts). */
  readonly zeros: number
}

/** The elements of one list or one large object, or one single value. */
export type Sequence = {
  readonly kind: 'list' | 'entries' | 'value'
  readonly path: ValuePath
  readonly list: RecordedList<Slot>
  readonly known: KnownTree
  /** The objects that contain the elements, outermost first. An element must not refer to one of them. */
  containers: readonly object[]
}

export type StoredView = {
  /** The generation of the store at the last write. */
  generation: number | undefined
  /** Part of every state written with this view. Distinguishes a row from a rolled back one that had the same id. */
  mark: string
  last: { readonly id: StateId; readonly body: string; readonly root: string } | undefined
  /** By kind and path. */
  sequences: Map<string, Sequence>
}

/** One per session and process. It keeps only the objects of the last state alive. */
export class StateMemory {
  /** For StateStore only. */
  view: StoredView = emptyView()
  /** For StateStore only. */
  readonly captures = new Captures()

  /** Call it when the transaction of a write has failed. */
  forget(): void {
    this.view = emptyView()
  }
}

function emptyView(): StoredView {
  return { generation: undefined, mark: '', last: undefined, sequences: new Map() }
}
