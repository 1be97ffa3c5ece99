// Follows a snapshot to its last object, and says which of them the store lacks.
import { type BytePath, joinPath, type ObjectId, ROOT, SavestateError } from '../../model/index.js'
import { decodeModes } from '../objects/modes.js'
import { EMPTY_TREE } from '../objects/object-id.js'
import { decodeTree, GIT_MODE, type TreeEntry } from '../objects/tree.js'
import type { CheckCounter, ObjectLibrary } from './library.js'

/** An object that is missing or damaged. */
export type Lack = {
  readonly id: ObjectId
  /** `tree`: what it holds is not known any more, and nothing can be compared with it. */
  readonly type: 'tree' | 'modes' | 'file'
  /** In the project. */
  readonly path: BytePath
}

export type Lacks = {
  readonly lacks: readonly Lack[]
  /** Of all; at most MAX_LACKS are kept. */
  readonly count: number
}

const MAX_LACKS = 1000
const NONE: Lacks = { lacks: [], count: 0 }

export class SnapshotWalk {
  readonly #library: ObjectLibrary
  readonly #counter: CheckCounter
  /** By tree; the paths are relative to it. Snapshots have most trees in common. */
  readonly #known = new Map<ObjectId, Lacks>()

  constructor(library: ObjectLibrary, counter: CheckCounter) {
    this.#library = library
    this.#counter = counter
  }

  /** With `quick` only whether its topmost objects are there. */
  lacksOf(snapshot: ObjectId, { quick }: { readonly quick: boolean }): Lacks {
    const entries = this.#entriesOf(snapshot)
    const idOf = (name: string) => entries?.find((entry) => entry.name === name)?.id
    const [files, modes] = [idOf('files'), idOf('modes')]
    if (files === undefined || modes === undefined)
      return one({ id: snapshot, type: 'tree', path: ROOT })
    const hasModes = quick ? this.#library.has(modes) : this.#areModes(modes)
    const ofModes = hasModes ? NONE : one({ id: modes, type: 'modes', path: ROOT })
    if (!quick) return joined([ofModes, this.#lacksOfTree(files)])
    const hasFiles = files === EMPTY_TREE || this.#library.has(files)
    return joined([ofModes, hasFiles ? NONE : one({ id: files, type: 'tree', path: ROOT })])
  }

  #lacksOfTree(tree: ObjectId): Lacks {
    const known = this.#known.get(tree)
    if (known !== undefined) return known
    const entries = this.#entriesOf(tree)
    this.#counter.one()
    const found =
      entries === undefined
        ? one({ id: tree, type: 'tree', path: ROOT })
        : joined(entries.map((entry) => this.#lacksOfEntry(entry)))
    this.#known.set(tree, found)
    return found
  }

  #lacksOfEntry({ mode, name, id }: TreeEntry): Lacks {
    if (mode !== GIT_MODE.folder)
      return this.#library.has(id) ? NONE : one({ id, type: 'file', path: name })
    const { lacks, count } = this.#lacksOfTree(id)
    if (count === 0) return NONE
    const inside = ({ path, ...rest }: Lack) => ({
      ...rest,
      path: path === ROOT ? name : joinPath(name, path),
    })
    return { lacks: lacks.map(inside), count }
  }

  #entriesOf(tree: ObjectId): TreeEntry[] | undefined {
    // Git knows the empty tree without having it.
    if (tree === EMPTY_TREE) return []
    const found = this.#library.read(tree)
    return found?.type === 'tree' ? decodeTree(found.content) : undefined
  }

  #areModes(id: ObjectId): boolean {
    const found = this.#library.read(id)
    if (found?.type !== 'blob') return false
    try {
      decodeModes(found.content)
      return true
    } catch (error) {
      if (error instanceof SavestateError && error.code === 'STORE_DAMAGED') return false
      throw error
    }
  }
}

function one(lack: Lack): Lacks {
  return { lacks: [lack], count: 1 }
}

function joined(parts: readonly Lacks[]): Lacks {
  const faulty = parts.filter(({ count }) => count > 0)
  if (faulty.length === 0) return NONE
  return {
    lacks: faulty.flatMap(({ lacks }) => lacks).slice(0, MAX_LACKS),
    count: faulty.reduce((sum, { count }) => sum + count, 0),
  }
}
