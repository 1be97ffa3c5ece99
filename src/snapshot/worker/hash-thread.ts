// The entry point of the thread behind a HashLane.
import { workerData } from 'node:worker_threads'
import { faultOf, lowerPriority } from '../../system/index.js'
import { FileHasher } from '../capture/hash/file-hasher.js'
import type { HashReply, HashRequest, HashThreadData } from '../capture/hash/hashed-batch.js'

const { objectsFolder, port } = workerData as HashThreadData
let hasher: FileHasher | undefined

lowerPriority()

port.on('message', (request: HashRequest) => {
  try {
    // Created with the first request, because it reads the list of stored objects.
    hasher ??= new FileHasher(objectsFolder)
    const batch = hasher.hash(request)
    port.postMessage(batch satisfies HashReply, [
      batch.data,
      batch.stamps.buffer,
      batch.figures.buffer,
    ])
  } catch (error) {
    port.postMessage({ fault: faultOf(error) } satisfies HashReply)
  }
})
