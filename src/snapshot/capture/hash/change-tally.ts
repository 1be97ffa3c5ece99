// Adds up what a capture changes in files that it knew: the contents before and now are at hand when a file is read, and
// asking git costs many times more. It gives up at the first file that is not simple, and then git is asked for all.
import type { ChangeCounts, ObjectId } from '../../../model/index.js'
import { lineChanges } from '../../objects/line-changes.js'

/** A content that the store has. */
export type Stored = { readonly id: ObjectId; readonly size: number }

/** From one snapshot to another. */
export type CountedChanges = {
  readonly since: ObjectId | undefined
  readonly tree: ObjectId
  readonly counts: ChangeCounts | undefined
}

const MAX_BYTES = 1 << 20

export class ChangeTally {
  readonly #read: (stored: Stored) => Buffer | undefined
  #counts: ChangeCounts | undefined = { files: 0, insertions: 0, deletions: 0 }

  constructor(read: (stored: Stored) => Buffer | undefined) {
    this.#read = read
  }

  /** `before`: what the file was in the last capture. */
  add(before: Stored | undefined, now: { readonly id: ObjectId; readonly content: Buffer }): void {
    if (this.#counts === undefined || before?.id === now.id) return
    const { files, insertions, deletions } = this.#counts
    const changes = this.#changesOf(before, now.content)
    this.#counts = changes && {
      files: files + 1,
      insertions: insertions + changes.insertions,
      deletions: deletions + changes.deletions,
    }
  }

  giveUp(): void {
    this.#counts = undefined
  }

  /** Undefined where it is not known. */
  get counts(): ChangeCounts | undefined {
    return this.#counts
  }

  #changesOf(before: Stored | undefined, content: Buffer) {
    if (before === undefined || before.size + content.length > MAX_BYTES) return undefined
    const old = this.#read(before)
    return old && lineChanges(old, content)
  }
}
