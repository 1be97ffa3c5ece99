// The thread behind HashPool: everything here is synchronous, because the thread has nothing else to do.
import { workerData } from 'node:worker_threads'
import { type ObjectId, SavestateError } from '../model/index.js'
import { serveThread, Transferred } from '../system/index.js'
import { type ReadFault, readStable } from './capture/read-file.js'
import { linesOf } from './objects/count-lines.js'
import { LooseListing } from './objects/loose.js'
import { type ObjectType, objectIdOf } from './objects/object-id.js'
import { type PackEntry, packEntry } from './objects/pack-entry.js'
import { PackIndexes } from './objects/pack-index.js'

export type HashedFile = {
  readonly id: ObjectId
  readonly size: number
  readonly mtimeNs: bigint
  readonly ctimeNs: bigint
  readonly ino: bigint
  readonly readAtMs: number
  readonly lines: number
  /** Where its pack entry is in the batch's bytes; empty if the store has the object. */
  readonly start: number
  readonly end: number
  readonly crc: number
}
export type HashedBatch = {
  readonly files: readonly (HashedFile | ReadFault)[]
  readonly data: ArrayBuffer
}

export type HashCalls = {
  hashFiles(paths: readonly string[]): Promise<HashedBatch>
  compress(
    objects: readonly { type: ObjectType; content: Uint8Array }[],
  ): Promise<readonly PackEntry[]>
}

const folder = parseFolder(workerData)
const loose = new LooseListing(folder)
const packs = new PackIndexes(folder)
packs.refresh()

serveThread({
  hashFiles(paths: readonly string[]): Transferred {
    const parts: Buffer[] = []
    let at = 0
    const files = paths.map((path): HashedFile | ReadFault => {
      const read = readStable(path)
      if (typeof read === 'string') return read
      const { content, readAtMs } = read
      const { size, mtimeNs, ctimeNs, ino } = read.stats
      const id = objectIdOf('blob', content)
      const start = at
      let crc = 0
      if (!loose.has(id) && !packs.has(id)) {
        const entry = packEntry('blob', content)
        parts.push(entry.bytes)
        at += entry.bytes.length
        crc = entry.crc
      }
      const lines = linesOf(content)
      return { id, size: Number(size), mtimeNs, ctimeNs, ino, readAtMs, lines, start, end: at, crc }
    })
    const data = new ArrayBuffer(at)
    const bytes = Buffer.from(data)
    let offset = 0
    for (const part of parts) offset += part.copy(bytes, offset)
    return new Transferred({ files, data }, [data])
  },

  compress: (objects: readonly { type: ObjectType; content: Uint8Array }[]) =>
    objects.map(({ type, content }) => packEntry(type, content)),
})

function parseFolder(data: unknown): string {
  if (typeof data === 'object' && data !== null && 'objectsFolder' in data)
    return String(data.objectsFolder)
  throw new SavestateError('STORE_UNUSABLE', 'The hash thread was started without a store')
}
