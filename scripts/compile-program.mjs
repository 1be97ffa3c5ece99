// Leaves the compiled form of the program's two large files in dist/cli/, for this version of Node: src/cli/compiled.ts
// says what for. V8 keeps the functions that have run, so the two most used commands are run, in a scratch folder:
// what is in it costs time to read, too.
//   node compile-program.mjs                    all of it
//   node compile-program.mjs <forms> <command>  one command, which adds to what was compiled by those before
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire, Module } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { constants, Script } from 'node:vm'

const HERE = fileURLToPath(import.meta.url)
const FOLDER = join(dirname(dirname(HERE)), 'dist', 'cli')
const FILES = ['main', 'program', 'capture']
const COMMANDS = [['save', '-m', 'one'], ['save', '-m', 'two'], ['list']]

const [forms, ...args] = process.argv.slice(2)
if (forms === undefined) await compileAll()
else runOne(forms, args)

async function compileAll() {
  const { checksum, compiledName } = await import(pathToFileURL('build/compiled/compiled.js').href)
  const scratch = mkdtempSync(join(tmpdir(), 'savestate-compile-'))
  try {
    const project = join(scratch, 'project')
    mkdirSync(project)
    const env = {
      ...process.env,
      HOME: scratch,
      SAVESTATE_HOME: join(scratch, 'store'),
      NODE_OPTIONS: '',
    }
    for (const [i, command] of COMMANDS.entries()) {
      writeFileSync(join(project, 'file'), `${i}\n`)
      const child = spawnSync(process.execPath, [HERE, scratch, ...command], { cwd: project, env })
      if (child.status !== 0) throw new Error(`${command.join(' ')}: ${String(child.stderr)}`)
    }
    for (const name of FILES) {
      const compiled = readFileSync(join(scratch, name))
      const check = Buffer.alloc(4)
      check.writeUInt32LE(checksum(readFileSync(join(FOLDER, `${name}.js`)), compiled))
      writeFileSync(join(FOLDER, compiledName(name)), Buffer.concat([check, compiled]))
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

function runOne(forms, args) {
  const program = join(FOLDER, 'bin.js')
  process.argv.splice(1, process.argv.length, program, ...args)
  for (const name of FILES) {
    const file = join(FOLDER, `${name}.js`)
    const form = join(forms, name)
    const script = new Script(Module.wrap(readFileSync(file, 'latin1')), {
      filename: file,
      cachedData: existsSync(form) ? readFileSync(form) : undefined,
      importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    })
    const require = createRequire(file)
    const loaded = new Module(file)
    loaded.filename = file
    require.cache[file] = loaded
    script.runInThisContext()(loaded.exports, require, loaded, file, FOLDER)
    loaded.loaded = true
    process.on('exit', () => writeFileSync(form, script.createCachedData()))
  }
  createRequire(program)(program)
}
