// The thread behind a HashLane: everything here is synchronous, because the thread has nothing else to do.
import { workerData } from 'node:worker_threads'
import { faultOf, lowerPriority } from '../system/index.js'
import { BatchBuilder, newEntry } from './capture/batch-builder.js'
import type { HashedBatch, HashReply, HashRequest, HashThreadData } from './capture/hashed-batch.js'
import { BulkReader, type HashedRead } from './capture/read-file.js'
import { secretIn } from './capture/secret-content.js'
import { type CleanContent, CleanContents } from './checkout/clean-content.js'
import { ENTRY_BYTES } from './checkout/index-entry.js'
import { linesOf } from './objects/count-lines.js'
import { LooseListing } from './objects/loose.js'
import { PackIndexes } from './objects/pack-index.js'

const ANSWER_BYTES = 2 << 20

const { objectsFolder, port } = workerData as HashThreadData
const reader = new BulkReader()
const clean = new CleanContents()
const builder = new BatchBuilder()
let known: { readonly loose: LooseListing; readonly packs: PackIndexes } | undefined

lowerPriority()

port.on('message', (request: HashRequest) => {
  // Looked at when the work begins: the thread may have been started long before.
  known ??= openStoreObjects()
  try {
    const batch = hashFiles(request)
    port.postMessage(batch satisfies HashReply, [
      batch.data,
      batch.stamps.buffer,
      batch.figures.buffer,
    ])
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
  builder.begin(paths.length)
  let readBytes = 0
  for (const [i, path] of paths.entries()) {
    if (readBytes >= ANSWER_BYTES) break
    const read = readClean(path, { i, largeBytes, checkout }) ?? reader.read(path, largeBytes)
    if (typeof read === 'string') {
      builder.addFault(read)
      continue
    }
    const { id, content, readAtMs, stats } = read
    const isKnown = known?.loose.has(id) === true || known?.packs.has(id) === true
    const lines = linesOf(content)
    const file = { id, stats, readAtMs, lines, secret: secretIn(path, content) }
    builder.add(file, isKnown ? undefined : entryOf(read))
    readBytes += content.length
  }
  return builder.finish()
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

function entryOf({ content, ...read }: CleanContent | HashedRead): readonly Uint8Array[] {
  return 'entry' in read && read.entry !== undefined ? [read.entry] : newEntry(content)
}
