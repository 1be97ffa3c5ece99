// Node modules that take milliseconds to load and that most commands never need.

export function childProcess() {
  return process.getBuiltinModule('node:child_process')
}

export function workerThreads() {
  return process.getBuiltinModule('node:worker_threads')
}
