// Which paths the user has changed since a checkpoint, and how. A path that the user changed stays the user's, even if others change
// it later. A rewind changes no owner: restored content keeps its earlier owner. Pure.
import { type Authors, mayBeByUser, REWIND } from './author.js'
import type { BytePath } from '../byte-path.js'
import type { Entry } from '../entry.js'

export type PathChange = {
  readonly path: BytePath
  readonly before: Entry | undefined
  readonly after: Entry | undefined
}

/** One change by the user, between changes by others. */
export type Edit = Pick<PathChange, 'before' | 'after'>

type Owner = {
  readonly isUsers: boolean
  /** The user's changes that led to the present content, oldest first. */
  readonly edits: readonly Edit[]
}

const NOT_USERS: Owner = { isUsers: false, edits: [] }

type Path = {
  readonly first: Entry | undefined
  last: Entry | undefined
  owner: Owner
  /** The owners of earlier contents of the path. */
  readonly seen: Map<string, Owner>
}

export type UserPath = {
  readonly path: BytePath
  /** The entry of the checkpoint. */
  readonly start: Entry | undefined
  /** The entry of the folder. */
  readonly present: Entry | undefined
  readonly edits: readonly Edit[]
  /** Whether others changed the path too. */
  readonly isShared: boolean
}

export class PathOwners {
  readonly #paths = new Map<BytePath, Path>()

  /**
   * Call it for each change, oldest first. `isMerge`: a rewind that merged contents, so that its result may be new and still has
   * the user's lines.
   */
  follow({ path, before, after }: PathChange, authors: Authors, isMerge = false): void {
    const known = this.#paths.get(path) ?? {
      first: before,
      last: before,
      owner: NOT_USERS,
      seen: new Map<string, Owner>(),
    }
    const { seen } = known
    seen.set(keyOf(before), known.owner)
    const isRewind = authors !== null && authors.length === 1 && authors[0] === REWIND
    const edited = () => withEdit(known.owner, { before, after })
    if (isRewind)
      known.owner =
        seen.get(keyOf(after)) ?? (isMerge && known.owner.isUsers ? edited() : NOT_USERS)
    else if (mayBeByUser(authors)) known.owner = edited()
    known.last = after
    seen.set(keyOf(after), known.owner)
    this.#paths.set(path, known)
  }

  userPaths(): readonly UserPath[] {
    return [...this.#paths].flatMap(([path, { first, last, owner }]) => {
      if (!owner.isUsers) return []
      const [edit, ...others] = owner.edits
      const isWhole = keyOf(edit?.before) === keyOf(first) && keyOf(edit?.after) === keyOf(last)
      const isShared = others.length > 0 || !isWhole
      return [{ path, start: first, present: last, edits: owner.edits, isShared }]
    })
  }
}

/** Joins two changes if no one else changed the path between them. */
function withEdit({ edits }: Owner, edit: Edit): Owner {
  const last = edits.at(-1)
  const isNext = last !== undefined && keyOf(last.after) === keyOf(edit.before)
  return {
    isUsers: true,
    edits: isNext
      ? [...edits.slice(0, -1), { before: last.before, after: edit.after }]
      : [...edits, edit],
  }
}

function keyOf(entry: Entry | undefined): string {
  if (entry === undefined) return ''
  const content = entry.type === 'folder' ? '' : entry.blob
  return `${entry.type} ${content} ${entry.type === 'link' ? '' : entry.mode}`
}
