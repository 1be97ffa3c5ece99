// Reads objects of a store that may be damaged. Git exits when it meets a damaged object in a pack, and then all pending requests
// fail: so requests are made one at a time.
import { type ObjectId, SavestateError } from '../../model/index.js'
import { BlobReader } from '../git/blob-reader.js'
import { objectIdOf, type ObjectType } from '../objects/object-id.js'

export class TolerantReader {
  readonly #contents: BlobReader
  readonly #headers: BlobReader

  constructor(gitDir: string) {
    this.#contents = new BlobReader(gitDir)
    this.#headers = new BlobReader(gitDir, { headersOnly: true })
  }

  /** Undefined for an object that is missing, of another type, or does not match its name. */
  async read(type: ObjectType, id: ObjectId): Promise<Buffer | undefined> {
    const content = await unlessDamaged(() => this.#contents.read(id))
    return content !== undefined && objectIdOf(type, content) === id ? content : undefined
  }

  /** Whether git finds an object, given by id or as `<tree>:<path>`. Its content is not checked. */
  async exists(name: string): Promise<boolean> {
    return (await unlessDamaged(() => this.#headers.read(name as ObjectId))) !== undefined
  }

  close(): void {
    this.#contents.close()
    this.#headers.close()
  }
}

/** If git exits, it is asked again: another process may have killed it. */
async function unlessDamaged(
  read: () => Promise<Buffer>,
  { isLast = false } = {},
): Promise<Buffer | undefined> {
  try {
    return await read()
  } catch (error) {
    const code = error instanceof SavestateError ? error.code : undefined
    if (code === 'GIT_FAILED' && !isLast) return unlessDamaged(read, { isLast: true })
    if (code === 'STORE_DAMAGED' || code === 'GIT_FAILED') return undefined
    throw error
  }
}
