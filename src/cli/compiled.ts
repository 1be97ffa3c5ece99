// Saves the time to compile the program, half of what a short command takes. The build leaves V8's compiled form of the
// large files beside them, for the version of Node that built them (docs/decisions/0015).
import { createRequire, Module } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { constants, Script } from 'node:vm'
import { compiledName, readForm } from './compiled-form.js'

/**
 * Runs a file of the program from its compiled form, so that `require` finds it loaded. Without one that fits, nothing
 * happens, and `require` compiles it. V8 itself refuses a form that another version or other flags have made.
 */
export function useCompiled(name: string, form = name): void {
  const folder = dirname(fileURLToPath(import.meta.url))
  const file = join(folder, `${name}.js`)
  const require = createRequire(file)
  // The daemon runs many commands: a second copy would have errors and classes of its own.
  if (require.cache[file] !== undefined) return
  const found = readForm(file, join(folder, compiledName(form)))
  if (found === undefined) return
  const script = new Script(found.script, {
    filename: file,
    cachedData: found.cachedData,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  })
  if (script.cachedDataRejected === true) return
  const loaded = new Module(file)
  loaded.filename = file
  require.cache[file] = loaded
  script.runInThisContext()(loaded.exports, require, loaded, file, folder)
  loaded.loaded = true
}
