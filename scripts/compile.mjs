// Leaves the compiled form of the large files of dist/cli/ and dist/sdk/ beside them, for this version of Node:
// src/cli/compiled.ts says what for. V8 keeps the functions that have run, so what is done most is done, in a scratch
// folder: what is in a form costs time to read, too.
//   node compile.mjs                             all of it
//   node compile.mjs <scratch> program <command> one command, which adds to what was compiled by those before
//   node compile.mjs <scratch> sdk               the same for a process of an agent
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire, Module } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import process from 'node:process'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { constants, Script } from 'node:vm'

const HERE = fileURLToPath(import.meta.url)
const DIST = join(dirname(dirname(HERE)), 'dist')
const PARTS = {
  program: {
    folder: join(DIST, 'cli'),
    forms: { main: 'main', program: 'program', capture: 'capture' },
    runs: [['save', '-m', 'one'], ['save', '-m', 'two'], ['list']],
    run: runCommand,
  },
  look: {
    folder: join(DIST, 'cli'),
    forms: { 'program-look': 'program' },
    runs: [['list']],
    run: runCommand,
  },
  sdk: {
    folder: join(DIST, 'sdk'),
    forms: { sdk: 'sdk' },
    // A process that goes on has another way through the same code.
    runs: [[], []],
    run: workAsAgent,
  },
}

const [given, part, ...args] = process.argv.slice(2)
if (given === undefined) await compileAll()
else await runOne(given, PARTS[part], args)

async function compileAll() {
  const { compiledName, encodeForm } = await import(
    pathToFileURL('build/compiled/compiled.js').href
  )
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
    for (const [name, { folder, forms, runs }] of Object.entries(PARTS)) {
      for (const [i, given] of runs.entries()) {
        writeFileSync(join(project, 'file'), `${name} ${i}\n`)
        const all = [HERE, scratch, name, ...given]
        const child = spawnSync(process.execPath, all, { cwd: project, env })
        if (child.status !== 0) throw new Error(`${all.join(' ')}: ${String(child.stderr)}`)
      }
      for (const [form, file] of Object.entries(forms)) {
        const source = readFileSync(join(folder, `${file}.js`), 'latin1')
        const compiled = readFileSync(join(scratch, form))
        writeFileSync(join(folder, compiledName(form)), encodeForm(source, compiled))
      }
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

async function runOne(scratch, { folder, forms, run }, args) {
  for (const [name, source] of Object.entries(forms)) {
    const file = join(folder, `${source}.js`)
    const form = join(scratch, name)
    const script = new Script(Module.wrap(readFileSync(file, 'latin1')), {
      // It stays in the form, whatever the file is called where that is used, and stands in the stack of every error there.
      filename: join('savestate', relative(dirname(DIST), file)),
      cachedData: existsSync(form) ? readFileSync(form) : undefined,
      importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    })
    const require = createRequire(file)
    const loaded = new Module(file)
    loaded.filename = file
    require.cache[file] = loaded
    script.runInThisContext()(loaded.exports, require, loaded, file, folder)
    loaded.loaded = true
    process.on('exit', () => writeFileSync(form, script.createCachedData()))
  }
  await run(args)
}

function runCommand(args) {
  const program = join(DIST, 'cli', 'bin.js')
  process.argv.splice(1, process.argv.length, program, ...args)
  createRequire(program)(program)
}

async function workAsAgent() {
  const { openStore } = await import(pathToFileURL(join(DIST, 'index.js')).href)
  const store = await openStore({ home: process.env.SAVESTATE_HOME })
  const project = await store.project('.')
  await project.save({ reason: 'one' })
  await project.list()
  const session = await store.session('agent')
  const { messages = [] } = (await session.stateAt()) ?? {}
  messages.push({ role: 'user', content: 'one' }, { role: 'assistant', content: [] })
  await session.save({ state: { messages } })
  await session.append('messages', [{ role: 'user', content: 'two' }])
  await session.tool({ id: `call ${messages.length}`, name: 'tool' }, () => 'done')
  await session.stateAt()
  await session.list()
  await session.close()
  await store.close()
}
