// What the user's repository can say of the files in a folder of its worktree: for the captured ones, whether their
// contents may be taken from there instead of being compressed anew (docs/first-save.md).
import { type BytePath, joinPath } from '../../model/index.js'
import { CleanFiles } from './clean-files.js'
import { Conversions } from './conversions.js'
import type { Repository } from './repository.js'

/** What the folders of one repository share. */
type Whole = {
  readonly repository: Repository
  readonly objects: string
  /** Read when it is first asked for. */
  clean?: { readonly files: CleanFiles | undefined }
}

export class CheckoutFolder {
  /** The repository's folder of objects. */
  readonly objects: string
  readonly #whole: Whole
  readonly #conversions: Conversions

  private constructor(whole: Whole, conversions: Conversions) {
    this.#whole = whole
    this.objects = whole.objects
    this.#conversions = conversions
  }

  /** `below`: the way from the top of the worktree to the folder; attribute files on it are looked for. */
  static of(repository: Repository, below: BytePath): CheckoutFolder {
    const objects = `${repository.commonDir}/objects`
    let folder = new CheckoutFolder({ repository, objects }, Conversions.of(repository))
    const names = below === '' ? [] : below.split('/')
    for (let depth = 0; depth < names.length; depth++)
      folder = folder.inside([repository.worktree, ...names.slice(0, depth)].join('/'))
    return folder
  }

  /** The same where a folder with an attribute file is entered. */
  inside(absolute: string): CheckoutFolder {
    const path = this.#pathOf(absolute)
    return new CheckoutFolder(this.#whole, this.#conversions.inside({ path, absolute }))
  }

  /** Copies what the index has of a file to `to`, if that may prove what it holds. */
  copyEntry(absolute: string, to: Buffer, at: number): boolean {
    this.#whole.clean ??= { files: CleanFiles.of(this.#whole.repository) }
    const path = this.#pathOf(absolute)
    if (this.#whole.clean.files?.copyEntry(path, to, at) !== true) return false
    return !this.#conversions.mayConvert(path)
  }

  #pathOf(absolute: string): BytePath {
    const { worktree } = this.#whole.repository
    const start = worktree.endsWith('/') ? worktree.length : worktree.length + 1
    return joinPath('' as BytePath, absolute.slice(start))
  }
}
