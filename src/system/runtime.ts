// The clock and random source, passed as a parameter so that tests can fix both, and Node modules that are loaded on first use
// because they take milliseconds and most commands never need them.
import { randomBytes } from 'node:crypto'

export type Clock = { readonly nowMs: () => number; readonly random: (bytes: number) => Uint8Array }

export const systemClock: Clock = { nowMs: () => Date.now(), random: (bytes) => randomBytes(bytes) }

export function childProcess() {
  return process.getBuiltinModule('node:child_process')
}

export function workerThreads() {
  return process.getBuiltinModule('node:worker_threads')
}
