// Reads objects of a store that may be damaged. Git exits when it meets a damaged object in a pack, so a request that fails
// together with others is repeated alone.
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

  /** By id; undefined for an object that is missing, of another type, or does not match its name. */
  async readAll(
    type: ObjectType,
    ids: readonly ObjectId[],
  ): Promise<ReadonlyMap<ObjectId, Buffer | undefined>> {
    const contents = await eachAlone(ids, (id) => this.#contents.read(id))
    return new Map(
      ids.map((id, n) => {
        const content = contents[n]
        const isWhole = content !== undefined && objectIdOf(type, content) === id
        return [id, isWhole ? content : undefined]
      }),
    )
  }

  async read(type: ObjectType, id: ObjectId): Promise<Buffer | undefined> {
    return (await this.readAll(type, [id])).get(id)
  }

  /** Whether git finds each of these objects, given by id or as `<tree>:<path>`. Contents are not checked. */
  async whichExist(names: readonly string[]): Promise<readonly boolean[]> {
    const receiver = { start: () => undefined, chunk: () => undefined }
    const found = await eachAlone(names, async (name) => {
      await this.#headers.stream(name as ObjectId, receiver)
      return true
    })
    return found.map((isThere) => isThere === true)
  }

  close(): void {
    this.#contents.close()
    this.#headers.close()
  }
}

const EXITED = Symbol('git exited')

async function eachAlone<I, O>(
  items: readonly I[],
  work: (item: I) => Promise<O>,
): Promise<readonly (O | undefined)[]> {
  const attempt = (item: I) =>
    work(item).catch((error: unknown) => {
      if (error instanceof SavestateError && error.code === 'STORE_DAMAGED') return undefined
      if (error instanceof SavestateError && error.code === 'GIT_FAILED') return EXITED
      throw error
    })
  const results = await Promise.all(items.map(attempt))
  const found: (O | undefined)[] = []
  for (const [n, item] of items.entries()) {
    const result = results[n] === EXITED ? await attempt(item) : results[n]
    found.push(result === EXITED ? undefined : result)
  }
  return found
}
