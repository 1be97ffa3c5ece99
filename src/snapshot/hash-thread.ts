// The thread behind a HashLane: everything here is synchronous, because the thread has nothing else to do.
import { workerData } from 'node:worker_threads'
import { crc32 } from 'node:zlib'
import { faultOf, lowerPriority } from '../system/index.js'
import type { HashedBatch, HashReply, HashRequest, HashThreadData } from './capture/hashed-batch.js'
import { NUMBERS_PER_FILE } from './capture/hashed-batch.js'
import { BulkReader, type ReadFault } from './capture/read-file.js'
import { type SecretContent, secretIn } from './capture/secret-content.js'
import { type CleanContent, CleanContents } from './checkout/clean-content.js'
import { ENTRY_BYTES } from './checkout/index-entry.js'
import { linesOf } from './objects/count-lines.js'
import { LooseListing } from './objects/loose.js'
import { objectIdOf } from './objects/object-id.js'
import { type PackEntry, packEntry } from './objects/pack-entry.js'
import { PackIndexes } from './objects/pack-index.js'

const NO_ID = '0'.repeat(40)
const ANSWER_BYTES = 2 << 20

const { objectsFolder, port } = workerData as HashThreadData
const reader = new BulkReader()
const clean = new CleanContents()
let known: { readonly loose: LooseListing; readonly packs: PackIndexes } | undefined

lowerPriority()

port.on('message', (request: HashRequest) => {
  // Looked at when the work begins: the thread may have been started long before.
  known ??= openStoreObjects()
  try {
    const batch = hashFiles(request)
    port.postMessage(batch satisfies HashReply, [batch.data, batch.numbers.buffer as ArrayBuffer])
  } catch (error) {
    port.postMessage({ fault: faultOf(error) } satisfies HashReply)
  }
})

function openStoreObjects(): NonNullable<typeof known> {
  const packs = new PackIndexes(objectsFolder)
  packs.refresh()
  return { loose: new LooseListing(objectsFolder), packs }
}

/** As many of them as make one answer. */
function hashFiles({ paths, largeBytes, checkout }: HashRequest): HashedBatch {
  const numbers = new BigInt64Array(paths.length * NUMBERS_PER_FILE)
  const faults: (readonly [number, ReadFault])[] = []
  const secrets: (readonly [number, SecretContent])[] = []
  const parts: Buffer[] = []
  let ids = ''
  let at = 0
  let readBytes = 0
  let count = 0
  for (const path of paths) {
    if (readBytes >= ANSWER_BYTES) break
    const i = count++
    const read = readClean(path, { i, largeBytes, checkout }) ?? readAnew(path, largeBytes)
    if (typeof read === 'string') {
      faults.push([i, read])
      ids += NO_ID
      continue
    }
    const { id, content, readAtMs, stats } = read
    const secret = secretIn(path, content)
    if (secret !== undefined) secrets.push([i, secret])
    const start = at
    let crc = 0
    if (known?.loose.has(id) !== true && known?.packs.has(id) !== true) {
      const entry = entryOf(read)
      parts.push(entry.bytes)
      at += entry.bytes.length
      crc = entry.crc
    }
    ids += id
    readBytes += content.length
    const { size, mtimeNs, ctimeNs, ino, mode } = stats
    const rest = [readAtMs, linesOf(content), start, at, crc].map(BigInt)
    numbers.set([size, mtimeNs, ctimeNs, ino, mode, ...rest], i * NUMBERS_PER_FILE)
  }
  const data = new ArrayBuffer(at)
  const bytes = Buffer.from(data)
  let offset = 0
  for (const part of parts) offset += part.copy(bytes, offset)
  return { count, ids, numbers, faults, secrets, data }
}

/** What the user's own repository has of a file that is surely unchanged. */
function readClean(
  path: string,
  { i, largeBytes, checkout }: Pick<HashRequest, 'largeBytes' | 'checkout'> & { i: number },
): CleanContent | undefined {
  const objects = checkout?.sources[(checkout.sourceOf[i] ?? 0) - 1]
  if (checkout === undefined || objects === undefined) return undefined
  const entry = Buffer.from(checkout.entries.buffer, i * ENTRY_BYTES, ENTRY_BYTES)
  return clean.take(path, { entry, objects, largeBytes })
}

function readAnew(path: string, largeBytes: number): CleanContent | ReadFault {
  const read = reader.read(path, largeBytes)
  if (typeof read === 'string') return read
  return { ...read, id: objectIdOf('blob', read.content), entry: undefined }
}

function entryOf({ entry, content }: CleanContent): PackEntry {
  return entry === undefined ? packEntry('blob', content) : { bytes: entry, crc: crc32(entry) }
}
