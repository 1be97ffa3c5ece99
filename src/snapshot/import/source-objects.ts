// Reads objects of a foreign repository. Git gets their folder and nothing else of that repository (git-program.ts). Each object
// is hashed before use; an object that does not match its id is refused.
import { type ObjectId, SavestateError } from '../../model/index.js'
import { BlobReader } from '../git/blob-reader.js'
import { type ObjectType, objectIdOf } from '../objects/object-id.js'

export class SourceObjects {
  readonly #reader: BlobReader
  readonly #headers: BlobReader

  /** `gitDir` is the store's own repository, whose configuration git uses. */
  constructor(gitDir: string, objects: string) {
    this.#reader = new BlobReader(gitDir, { objects })
    this.#headers = new BlobReader(gitDir, { objects, headersOnly: true })
  }

  /** Returns the size instead of the content if that exceeds `maxBytes`. Throws BAD_INPUT if it is missing or damaged. */
  async read(
    type: ObjectType,
    { id, maxBytes }: { readonly id: ObjectId; readonly maxBytes: number },
  ): Promise<Buffer | number> {
    const chunks: Buffer[] = []
    let size = 0
    const receiver = {
      start: (announced: number) => {
        size = announced
      },
      chunk: (bytes: Buffer) => chunks.push(bytes),
    }
    try {
      // Read the header first, so that a body over the limit is never sent.
      await this.#headers.stream(id, receiver)
      if (size > maxBytes) return size
      await this.#reader.stream(id, receiver)
    } catch (error) {
      if (!(error instanceof SavestateError)) throw error
      // The reader's messages are about the store, which is not at fault here. A damaged object makes git exit.
      if (error.code !== 'STORE_DAMAGED' && error.code !== 'GIT_FAILED') throw error
      throw unreadable(type, id, { what: 'is missing or damaged', cause: error })
    }
    const content = Buffer.concat(chunks)
    if (objectIdOf(type, content) === id) return content
    throw unreadable(type, id, { what: 'is damaged, or of another type' })
  }

  close(): void {
    this.#reader.close()
    this.#headers.close()
  }
}

function unreadable(
  type: ObjectType,
  id: ObjectId,
  { what, cause }: { readonly what: string; readonly cause?: unknown },
): SavestateError {
  return new SavestateError('BAD_INPUT', `the ${type} ${id} ${what}`, { cause })
}
