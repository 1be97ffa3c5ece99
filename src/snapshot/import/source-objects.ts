// The objects of somebody else's repository, read only. Git is given their folder and nothing else of that
// repository (git-program.ts). Each object is hashed before it is used: what does not hash to its name is refused.
import { type ObjectId, SavestateError } from '../../model/index.js'
import { BlobReader } from '../git/blob-reader.js'
import { type ObjectType, objectIdOf } from '../objects/object-id.js'

export class SourceObjects {
  readonly #reader: BlobReader

  /** `gitDir` is the store's own, whose configuration git goes by. */
  constructor(gitDir: string, objects: string) {
    this.#reader = new BlobReader(gitDir, { objects })
  }

  /** The size instead of the content if that is more than `maxBytes`. Throws BAD_INPUT for what is missing or damaged. */
  async read(
    type: ObjectType,
    { id, maxBytes }: { readonly id: ObjectId; readonly maxBytes: number },
  ): Promise<Buffer | number> {
    const chunks: Buffer[] = []
    let size = 0
    try {
      await this.#reader.stream(id, {
        start: (bytes) => {
          size = bytes
        },
        chunk: (bytes) => {
          if (size <= maxBytes) chunks.push(bytes)
        },
      })
    } catch (error) {
      if (!(error instanceof SavestateError)) throw error
      // The reader speaks of the store; this is not about it. A damaged object ends the git process.
      if (error.code !== 'STORE_DAMAGED' && error.code !== 'GIT_FAILED') throw error
      throw unreadable(type, id, { what: 'is missing or damaged', cause: error })
    }
    if (size > maxBytes) return size
    const content = Buffer.concat(chunks)
    if (objectIdOf(type, content) === id) return content
    throw unreadable(type, id, { what: 'is damaged, or of another type' })
  }

  close(): void {
    this.#reader.close()
  }
}

function unreadable(
  type: ObjectType,
  id: ObjectId,
  { what, cause }: { readonly what: string; readonly cause?: unknown },
): SavestateError {
  return new SavestateError('BAD_INPUT', `the ${type} ${id} ${what}`, { cause })
}
