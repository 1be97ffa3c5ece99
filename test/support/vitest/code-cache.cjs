// Preloaded into the processes that tests start (NODE_OPTIONS in vitest.config.ts): keeps V8's compiled code of dist/cli between
// the starts. Node 22.8 and newer have a cache of their own (docs/decisions/0034); Node 20 compiles the program in each process,
// which is a quarter of the time of a command. The JavaScript that runs is the same: the name of a cache contains the version of
// Node and the time and size of the file, and V8 rejects a cache that was made with other flags.
'use strict'
const { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } = require('node:fs')
const Module = require('node:module')
const path = require('node:path')
const { constants, Script } = require('node:vm')
const { isMainThread } = require('node:worker_threads')

const ROOT = path.resolve(__dirname, '../../..')
const PROGRAM = path.join(ROOT, 'dist/cli/')
const CACHE = path.join(ROOT, 'build/code-cache')
const { length: HEAD } = Module.wrap('').replace(/\n.*$/s, '')

if (isMainThread && Module.enableCompileCache === undefined) keepCompiledCode()

function keepCompiledCode() {
  const compile = Module.prototype._compile
  const made = new Map()
  Module.prototype._compile = function (content, filename) {
    if (!filename.startsWith(PROGRAM)) return compile.apply(this, arguments)
    const cache = cacheOf(filename)
    const cachedData = readIfExists(cache)
    const script = new Script(Module.wrap(content.replace(/^#!.*/, '')), {
      filename,
      cachedData,
      columnOffset: -HEAD,
      importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    })
    if (cachedData === undefined) made.set(cache, script)
    const run = script.runInThisContext()
    const require = Module.createRequire(filename)
    return run.call(this.exports, this.exports, require, this, filename, path.dirname(filename))
  }
  // At the end it contains the functions that were used.
  process.once('exit', () => {
    for (const [cache, script] of made) write(cache, script.createCachedData())
  })
}

function cacheOf(filename) {
  const { mtimeMs, size } = statSync(filename)
  return path.join(CACHE, `${path.basename(filename)}-${process.version}-${size}-${mtimeMs}`)
}

function readIfExists(file) {
  try {
    return readFileSync(file)
  } catch {
    return undefined
  }
}

/** A test may have taken the right to write, the space or the file descriptors: then there is no cache. */
function write(file, bytes) {
  try {
    mkdirSync(CACHE, { recursive: true })
    const temporary = `${file}.${process.pid}`
    writeFileSync(temporary, bytes)
    renameSync(temporary, file)
  } catch {
    // The next process tries again.
  }
}
