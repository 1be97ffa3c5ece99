// Saves the time to compile the program, half of what a short command takes. The build leaves V8's compiled form of the
// two large files beside them, for the version of Node that built them (docs/decisions/0015).
import { existsSync, readFileSync } from 'node:fs'
import { createRequire, Module } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { constants, Script } from 'node:vm'
import { crc32 } from 'node:zlib'

const CHECK_BYTES = 4

/** As the build names it: another Node has another, or none, and compiles for itself. */
export function compiledName(name: string): string {
  return `${name}.${process.version}-${process.platform}-${process.arch}.compiled`
}

/**
 * Runs a file of the program from its compiled form, so that `require` finds it loaded. Without one that fits, nothing
 * happens, and `require` compiles it. V8 refuses a form that another version or other flags have made; that it belongs
 * to exactly these bytes, and is whole, V8 does not look at: the checksum over both does.
 */
export function useCompiled(name: string): void {
  const folder = dirname(fileURLToPath(import.meta.url))
  const file = join(folder, `${name}.js`)
  const require = createRequire(file)
  // The daemon runs many commands: a second copy would have errors and classes of its own.
  if (require.cache[file] !== undefined) return
  const compiledFile = join(folder, compiledName(name))
  if (!existsSync(compiledFile)) return
  const compiled = readFileSync(compiledFile)
  const source = readFileSync(file)
  const cachedData = compiled.subarray(CHECK_BYTES)
  if (compiled.length < CHECK_BYTES || compiled.readUInt32LE() !== checksum(source, cachedData))
    return
  // The build has made it plain ASCII.
  const script = new Script(Module.wrap(source.toString('latin1')), {
    filename: file,
    cachedData,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  })
  if (script.cachedDataRejected === true) return
  const loaded = new Module(file)
  loaded.filename = file
  require.cache[file] = loaded
  script.runInThisContext()(loaded.exports, require, loaded, file, folder)
  loaded.loaded = true
}

export function checksum(source: Uint8Array, compiled: Uint8Array): number {
  return crc32(compiled, crc32(source))
}
