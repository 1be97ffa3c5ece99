// Counts the lines that a capture changes in known files: when a file is read, its old and new content are at hand, and
// asking git costs many times more. At the first file that is not simple it gives up, and git counts everything.
import type { ChangeCounts, ObjectId } from '../../../model/index.js'
import { lineChanges } from '../../objects/line-changes.js'

/** A content in the store. */
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

  /** `before`: the file's content in the last capture. */
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

  /** Undefined if it gave up. */
  get counts(): ChangeCounts | undefined {
    return this.#counts
  }

  #changesOf(before: Stored | undefined, content: Buffer) {
    if (before === undefined || before.size + content.length > MAX_BYTES) return undefined
    const old = this.#read(before)
    return old && lineChanges(old, content)
  }
}
