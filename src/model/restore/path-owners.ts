// Which paths are the person's since a checkpoint. A path that the person has changed stays theirs, whoever changes it
// after that. A rewind makes nothing anybody's: what it brings back belongs to whom it belonged when it was there. Pure.
import { type Authors, mayBePersons, REWIND } from './author.js'
import type { BytePath } from '../byte-path.js'
import type { Entry } from '../entry.js'

export type PathChange = {
  readonly path: BytePath
  readonly before: Entry | undefined
  readonly after: Entry | undefined
}

type Owner = {
  readonly isPersons: boolean
  /** What was at the path since then, and whether it was the person's. */
  readonly seen: Map<string, boolean>
}

export class PathOwners {
  readonly #owners = new Map<BytePath, Owner>()

  /** Oldest first. */
  follow({ path, before, after }: PathChange, authors: Authors): void {
    const known = this.#owners.get(path) ?? { isPersons: false, seen: new Map() }
    const { seen } = known
    seen.set(keyOf(before), known.isPersons)
    const isRewind = authors !== null && authors.length === 1 && authors[0] === REWIND
    const isPersons = isRewind
      ? (seen.get(keyOf(after)) ?? false)
      : known.isPersons || mayBePersons(authors)
    seen.set(keyOf(after), isPersons)
    this.#owners.set(path, { isPersons, seen })
  }

  persons(): readonly BytePath[] {
    return [...this.#owners].flatMap(([path, { isPersons }]) => (isPersons ? [path] : []))
  }
}

function keyOf(entry: Entry | undefined): string {
  if (entry === undefined) return ''
  const content = entry.type === 'folder' ? '' : entry.blob
  return `${entry.type} ${content} ${entry.type === 'link' ? '' : entry.mode}`
}
