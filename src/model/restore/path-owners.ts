// Which paths the user has changed since a checkpoint. A path that the user changed stays the user's, even if others change it
// later. A rewind changes no owner: restored content keeps its earlier owner. Pure.
import { type Authors, mayBeByUser, REWIND } from './author.js'
import type { BytePath } from '../byte-path.js'
import type { Entry } from '../entry.js'

export type PathChange = {
  readonly path: BytePath
  readonly before: Entry | undefined
  readonly after: Entry | undefined
}

type Owner = {
  readonly isUsers: boolean
  /** Earlier contents of the path, and whether each was the user's. */
  readonly seen: Map<string, boolean>
}

export class PathOwners {
  readonly #owners = new Map<BytePath, Owner>()

  /** Call it for each change, oldest first. */
  follow({ path, before, after }: PathChange, authors: Authors): void {
    const known = this.#owners.get(path) ?? { isUsers: false, seen: new Map() }
    const { seen } = known
    seen.set(keyOf(before), known.isUsers)
    const isRewind = authors !== null && authors.length === 1 && authors[0] === REWIND
    const isUsers = isRewind
      ? (seen.get(keyOf(after)) ?? false)
      : known.isUsers || mayBeByUser(authors)
    seen.set(keyOf(after), isUsers)
    this.#owners.set(path, { isUsers, seen })
  }

  userPaths(): readonly BytePath[] {
    return [...this.#owners].flatMap(([path, { isUsers }]) => (isUsers ? [path] : []))
  }
}

function keyOf(entry: Entry | undefined): string {
  if (entry === undefined) return ''
  const content = entry.type === 'folder' ? '' : entry.blob
  return `${entry.type} ${content} ${entry.type === 'link' ? '' : entry.mode}`
}
