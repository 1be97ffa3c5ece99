// The entry point of the threads of a HashPool.
import { workerData } from 'node:worker_threads'
import { faultOf, lowerPriority } from '../../system/index.js'
import { FileHasher, type HashRequest } from '../capture/hash/file-hasher.js'
import type { HashReply, HashThreadData } from '../capture/hash/hash-pool.js'

const { objectsFolder, port } = workerData as HashThreadData
let hasher: FileHasher | undefined

lowerPriority()

port.on('message', (request: HashRequest) => {
  try {
    // Created with the first request, because it reads the list of stored objects.
    hasher ??= new FileHasher(objectsFolder)
    const batch = hasher.hash(request)
    port.postMessage(batch satisfies HashReply, [batch.data])
  } catch (error) {
    port.postMessage({ fault: faultOf(error) } satisfies HashReply)
  }
})
