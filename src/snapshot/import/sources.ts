// The repository that an import reads from, with cached results; one at a time.
import type { Limits } from '../../model/index.js'
import { TreeAdopter } from './adopt-tree.js'
import { SourceObjects } from './source-objects.js'

/** `objects` is the repository's objects folder; the limits are those of the target project. */
export type SourceRequest = { readonly objects: string; readonly limits: Limits }
type Open = { readonly source: SourceObjects; readonly adopter: TreeAdopter }

export class Sources {
  readonly #gitDir: string
  #open: (Open & SourceRequest) | undefined

  constructor(gitDir: string) {
    this.#gitDir = gitDir
  }

  of({ objects, limits }: SourceRequest): Open {
    const isSame = JSON.stringify(this.#open?.limits) === JSON.stringify(limits)
    if (this.#open?.objects !== objects || !isSame) {
      this.close()
      const source = new SourceObjects(this.#gitDir, objects)
      this.#open = { objects, limits, source, adopter: new TreeAdopter(source, limits) }
    }
    return this.#open
  }

  close(): void {
    this.#open?.source.close()
    this.#open = undefined
  }
}
