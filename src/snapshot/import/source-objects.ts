// The objects of somebody else's repository, read only. Git is given their folder and nothing else of that
// repository (git-program.ts). Each object is hashed before it is used: what does not hash to its name is refused.
import { type ObjectId, SavestateError } from '../../model/index.js'
import { BlobReader, type Receiver } from '../git/blob-reader.js'
import { type ObjectType, objectIdOf } from '../objects/object-id.js'

export class SourceObjects {
  readonly #reader: BlobReader
  readonly #headers: BlobReader

  /** `gitDir` is the store's own, whose configuration git goes by. */
  constructor(gitDir: string, objects: string) {
    this.#reader = new BlobReader(gitDir, { objects })
    this.#headers = new BlobReader(gitDir, { objects, headersOnly: true })
  }

  /** The size instead of the content if that is more than `maxBytes`. Throws BAD_INPUT for what is missing or damaged. */
  async read(
    type: ObjectType,
    { id, maxBytes }: { readonly id: ObjectId; readonly maxBytes: number },
  ): Promise<Buffer | number> {
    const receiver = new Collector()
    try {
      // The header first: a body over the limit is not sent at all.
      await this.#headers.stream(id, receiver)
      if (receiver.size > maxBytes) return receiver.size
      await this.#reader.stream(id, receiver)
    } catch (error) {
      if (!(error instanceof SavestateError)) throw error
      // The reader speaks of the store; this is not about it. A damaged object ends the git process.
      if (error.code !== 'STORE_DAMAGED' && error.code !== 'GIT_FAILED') throw error
      throw unreadable(type, id, { what: 'is missing or damaged', cause: error })
    }
    const content = Buffer.concat(receiver.chunks)
    if (objectIdOf(type, content) === id) return content
    throw unreadable(type, id, { what: 'is damaged, or of another type' })
  }

  close(): void {
    this.#reader.close()
    this.#headers.close()
  }
}

class Collector implements Receiver {
  readonly chunks: Buffer[] = []
  size = 0

  start(size: number): void {
    this.size = size
  }

  chunk(bytes: Buffer): void {
    this.chunks.push(bytes)
  }
}

function unreadable(
  type: ObjectType,
  id: ObjectId,
  { what, cause }: { readonly what: string; readonly cause?: unknown },
): SavestateError {
  return new SavestateError('BAD_INPUT', `the ${type} ${id} ${what}`, { cause })
}
