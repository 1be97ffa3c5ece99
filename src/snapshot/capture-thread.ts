// The thread of Snapshots: answers calls in order.
import { workerData } from 'node:worker_threads'
import { serveThread } from '../system/index.js'
import { type CaptureData, captureCalls } from './capture-calls.js'

serveThread(captureCalls(workerData as CaptureData))
