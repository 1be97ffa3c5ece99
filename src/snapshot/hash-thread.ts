// The thread behind HashPool: everything here is synchronous, because the thread has nothing else to do.
import { workerData } from 'node:worker_threads'
import { SavestateError } from '../model/index.js'
import { lowerPriority, serveThread, Transferred } from '../system/index.js'
import { NUMBERS_PER_FILE } from './capture/hashed-batch.js'
import { type ReadFault, readStable } from './capture/read-file.js'
import { linesOf } from './objects/count-lines.js'
import { LooseListing } from './objects/loose.js'
import { objectIdOf } from './objects/object-id.js'
import { packEntry } from './objects/pack-entry.js'
import { PackIndexes } from './objects/pack-index.js'

const NO_ID = '0'.repeat(40)

const folder = parseFolder(workerData)
const loose = new LooseListing(folder)
const packs = new PackIndexes(folder)
packs.refresh()

lowerPriority()

serveThread({
  hashFiles(paths: readonly string[]): Transferred {
    const numbers = new BigInt64Array(paths.length * NUMBERS_PER_FILE)
    const faults: (readonly [number, ReadFault])[] = []
    const parts: Buffer[] = []
    let ids = ''
    let at = 0
    paths.forEach((path, i) => {
      const read = readStable(path)
      if (typeof read === 'string') {
        faults.push([i, read])
        ids += NO_ID
        return
      }
      const { content, readAtMs, stats } = read
      const id = objectIdOf('blob', content)
      const start = at
      let crc = 0
      if (!loose.has(id) && !packs.has(id)) {
        const entry = packEntry('blob', content)
        parts.push(entry.bytes)
        at += entry.bytes.length
        crc = entry.crc
      }
      ids += id
      const { size, mtimeNs, ctimeNs, ino } = stats
      const rest = [readAtMs, linesOf(content), start, at, crc].map(BigInt)
      numbers.set([size, mtimeNs, ctimeNs, ino, ...rest], i * NUMBERS_PER_FILE)
    })
    const data = new ArrayBuffer(at)
    const bytes = Buffer.from(data)
    let offset = 0
    for (const part of parts) offset += part.copy(bytes, offset)
    return new Transferred({ ids, numbers, faults, data }, [data, numbers.buffer])
  },
})

function parseFolder(data: unknown): string {
  if (typeof data === 'object' && data !== null && 'objectsFolder' in data)
    return String(data.objectsFolder)
  throw new SavestateError('STORE_UNUSABLE', 'The hash thread was started without a store')
}
