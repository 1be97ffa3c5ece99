// The helper behind StatAhead.
import { lstatSync } from 'node:fs'
import { parentPort } from 'node:worker_threads'
import { fsPath } from '../model/index.js'
import { FIELDS, HELPER_AT, NOT_FOUND, SCAN_AT, type StatJob } from './capture/stat-ahead.js'

const LSTAT = { bigint: true, throwIfNoEntry: false } as const

let paths: string[] = []

parentPort?.on('message', (job: StatJob) => {
  if (job.paths !== undefined) paths = job.paths.split('\0')
  const found = new BigUint64Array(job.found)
  const control = new Int32Array(job.control)
  for (let i = paths.length - 1; i > Atomics.load(control, SCAN_AT); i--) {
    look(paths[i] ?? '', found, i * FIELDS)
    Atomics.store(control, HELPER_AT, i)
  }
})

function look(path: string, found: BigUint64Array, at: number): void {
  found[at] = NOT_FOUND
  try {
    const stats = lstatSync(fsPath(path), LSTAT)
    if (stats === undefined) return
    found[at + 1] = stats.size
    found[at + 2] = stats.mtimeNs
    found[at + 3] = stats.ctimeNs
    found[at + 4] = stats.ino
    found[at] = stats.mode
  } catch (error) {
    // The scan will meet the same fault and know what to make of it.
    if (!(error instanceof Error && 'code' in error)) throw error
  }
}
