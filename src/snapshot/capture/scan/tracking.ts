// The files that the user's own repositories track. They are captured even if a rule ignores them: a committed `dist/` is
// source. The index is read only if it changed and a decision depends on it.
import { type BytePath, isError } from '../../../model/index.js'
import { indexStamp, type TrackedPaths, trackedPaths } from '../../checkout/git-index.js'
import type { Repository } from '../../checkout/repository.js'

const UNREADABLE = 'unreadable'

/** A repository's index as of an earlier capture; the digest is UNREADABLE if it could not be read. */
export type KnownIndex = { readonly stamp: string; readonly digest: string }

export class Tracking {
  readonly repository: Repository
  /** The list of tracked paths differs from the one that the cached decisions used. */
  readonly hasChanged: boolean
  readonly known: KnownIndex
  readonly #toRepository: (path: BytePath) => BytePath
  #paths: TrackedPaths | 'unreadable' | undefined

  /** `toRepository` converts a path of the project to one of the repository. */
  constructor(
    repository: Repository,
    toRepository: (path: BytePath) => BytePath,
    known: KnownIndex | undefined,
  ) {
    this.repository = repository
    this.#toRepository = toRepository
    const stamp = stampOrUnreadable(repository)
    if (stamp !== undefined && known?.stamp === stamp) {
      this.known = known
      this.hasChanged = false
    } else {
      const paths = this.#read()
      const digest = paths === UNREADABLE ? UNREADABLE : paths.digest
      this.known = { stamp: stamp ?? '', digest }
      this.hasChanged = known?.digest !== digest
    }
  }

  /** A broken index does not stop a capture: it tracks nothing, and the checkpoint lists it. */
  get isUnreadable(): boolean {
    return this.#paths === UNREADABLE || this.known.digest === UNREADABLE
  }

  tracks(path: BytePath): boolean {
    const paths = this.#read()
    return paths !== 'unreadable' && paths.has(this.#toRepository(path))
  }

  tracksInside(folder: BytePath): boolean {
    const paths = this.#read()
    return paths !== 'unreadable' && paths.hasInside(this.#toRepository(folder))
  }

  #read(): TrackedPaths | 'unreadable' {
    this.#paths ??= readOrUnreadable(this.repository)
    return this.#paths
  }
}

function readOrUnreadable(repository: Repository): TrackedPaths | 'unreadable' {
  try {
    return trackedPaths(repository)
  } catch (error) {
    if (isError(error)) return 'unreadable'
    throw error
  }
}

function stampOrUnreadable(repository: Repository): string | undefined {
  try {
    return indexStamp(repository)
  } catch (error) {
    if (isError(error)) return undefined
    throw error
  }
}
