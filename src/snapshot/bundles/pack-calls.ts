// The calls of the capture thread for packs: a transfer is begun, continued chunk by chunk, and ended, and other calls run in between.
import { join } from 'node:path'
import {
  INLINE_PACK_BYTES,
  type Limits,
  type ObjectId,
  PACK_CHUNK_BYTES,
  type ProjectId,
} from '../../model/index.js'
import { failpoint } from '../../system/index.js'
import { estimateBytes, listForPack, packOf, type StoreReader } from './export-pack.js'
import { PackImport } from './import-packs.js'
import type { PackContent } from './transfer.js'

export type PackCalls = ReturnType<typeof packCalls>

/** The project whose temporary folder and limits an import uses. */
export type ImportTarget = { readonly project: ProjectId; readonly limits: Limits }

export type PackStore = StoreReader & {
  readonly home: string
  readonly gitDir: string
  readonly durable: boolean
}

export function packCalls({ home, durable, ...reader }: PackStore) {
  const exports = new Map<number, Chunks>()
  const imports = new Map<number, PackImport>()
  let lastId = 0

  return {
    /** `bytes` is the whole pack if it is small; otherwise `readExport` returns it. */
    async startExport(content: PackContent) {
      const objects = await listForPack(content, reader)
      const chunks = new Chunks(packOf(objects, reader))
      const first = await chunks.read(INLINE_PACK_BYTES + 1)
      const id = ++lastId
      if (first.length <= INLINE_PACK_BYTES) return { id, bytes: first, sizeBytes: first.length }
      chunks.unread(first)
      exports.set(id, chunks)
      return { id, bytes: undefined, sizeBytes: estimateBytes(objects, reader.store) }
    },

    /** The next chunk; undefined at the end. */
    async readExport(id: number): Promise<Uint8Array | undefined> {
      const chunk = await transferOf(exports, id).read(PACK_CHUNK_BYTES)
      return chunk.length === 0 ? undefined : chunk
    },

    async endExport(id: number): Promise<void> {
      await exports.get(id)?.end()
      exports.delete(id)
    },

    async estimatePack(content: PackContent): Promise<number> {
      return estimateBytes(await listForPack(content, reader), reader.store)
    },

    startImport({ project, limits }: ImportTarget): number {
      const id = ++lastId
      const temporary = join(home, 'tmp', project)
      imports.set(id, new PackImport({ ...reader, temporary, durable, limits }))
      return id
    },

    addToImport: ({ id, bytes }: { readonly id: number; readonly bytes: Uint8Array }) =>
      transferOf(imports, id).add(bytes),

    /** The packs are separate: none continues in the next. */
    endPack: (id: number) => transferOf(imports, id).endPack(),

    /** Checks that `tree` is complete; only then the objects become visible. */
    async finishImport({ id, tree }: { readonly id: number; readonly tree: ObjectId }) {
      await transferOf(imports, id).finish(tree)
      failpoint('share:fetched')
      imports.delete(id)
    },

    async abandonImport(id: number): Promise<void> {
      await imports.get(id)?.abandon()
      imports.delete(id)
    },
  }
}

/** Throws if the thread was started again during the transfer. */
function transferOf<T>(transfers: ReadonlyMap<number, T>, id: number): T {
  const found = transfers.get(id)
  if (found === undefined) throw new Error('The capture thread no longer knows this transfer')
  return found
}

/** Joins pieces of any size to chunks of a given one. */
class Chunks {
  readonly #pieces: AsyncGenerator<Buffer>
  #rest: Uint8Array[] = []

  constructor(pieces: AsyncGenerator<Buffer>) {
    this.#pieces = pieces
  }

  /** Fewer bytes only at the end. The result has a buffer of its own: a message to a thread takes along all of it. */
  async read(bytes: number): Promise<Uint8Array> {
    const chunk = new Uint8Array(bytes)
    let length = 0
    while (length < bytes) {
      const piece = this.#rest.pop() ?? (await this.#pieces.next()).value
      if (piece === undefined) return chunk.slice(0, length)
      const part = piece.subarray(0, bytes - length)
      chunk.set(part, length)
      length += part.length
      if (part.length < piece.length) this.#rest.push(piece.subarray(part.length))
    }
    return chunk
  }

  unread(bytes: Uint8Array): void {
    this.#rest.push(bytes)
  }

  async end(): Promise<void> {
    await this.#pieces.return(undefined)
  }
}
