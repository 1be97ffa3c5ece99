// The thread of Snapshots: answers calls in order.
import { join } from 'node:path'
import { workerData } from 'node:worker_threads'
import { serveThread } from '../../system/index.js'
import { HashLanes } from '../capture/hash/hash-lane.js'
import type { CaptureData } from './capture-requests.js'

const data = workerData as CaptureData
const objects = join(data.home, 'objects.git', 'objects')
const lanes = new HashLanes(new URL('./hash-thread.js', import.meta.url), objects)

// A new store will soon see a first save. Its threads start while the rest is loaded here, which takes as long.
if (data.isNew) lanes.warmUp()
void serve()

async function serve(): Promise<void> {
  const { captureCalls } = await import('./capture-calls.js')
  serveThread(captureCalls(data, { lanes }))
}
