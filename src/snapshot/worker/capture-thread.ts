// The entry point of the thread behind Snapshots. It answers calls in order.
import { workerData } from 'node:worker_threads'
import { serveThread } from '../../system/index.js'
import { captureCalls } from './capture-calls.js'
import type { CaptureData } from './capture-requests.js'

serveThread(captureCalls(workerData as CaptureData))
