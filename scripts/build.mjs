// Builds dist/ (what is imported, and types), dist/sdk/ and dist/cli/ (the SDK and the program) and build/ (the
// benchmark) with rolldown. Both are CommonJS behind an entry: they load 20 ms sooner (docs/decisions/0015).
import { spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import process from 'node:process'
import { rolldown } from 'rolldown'

const common = {
  platform: 'node',
  external: [/^@langchain\//],
  // What is put into one file is not loaded later, and that is meant.
  checks: { ineffectiveDynamicImport: false },
  // What its package.json names for Node loads its parts in a way that no bundler sees.
  resolve: { alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' } },
}

/** A failed build leaves what is there: the old output goes only when the new one is complete. */
async function bundle(input, dir, options = {}) {
  const { format = 'esm', together = {}, keepOld = false, plugins = [] } = options
  const build = await rolldown({ ...common, input, plugins })
  const groups = Object.entries(together).map(([name, ids], index) => ({
    name,
    priority: 9 - index,
    test: (id) => ids.has(id),
  }))
  const chunkFileNames = ({ name }) => (name in together ? '[name].js' : '[name]-[hash].js')
  const made = { dir, format, chunkFileNames, codeSplitting: { groups }, comments: COMMENTS }
  await build.generate(made)
  if (!keepOld) rmSync(dir, { recursive: true, force: true })
  const { output } = await build.write(made)
  await build.close()
  return output
}

// What is not there is not read at every start.
const COMMENTS = { legal: true, annotation: false, jsdoc: false }
const COMMONJS = '{ "type": "commonjs" }\n'

/** The modules that these files need at once, without what they load later. */
async function modulesOf(files) {
  const input = Object.fromEntries(files.map((file, index) => [`root-${index}`, file]))
  const build = await rolldown({ ...common, input })
  const { output } = await build.generate({ format: 'cjs' })
  await build.close()
  const chunks = new Map(output.map((chunk) => [chunk.fileName, chunk]))
  const wanted = new Set(
    output.filter(({ name }) => name?.startsWith('root-')).map(({ fileName }) => fileName),
  )
  for (const name of wanted) for (const next of chunks.get(name)?.imports ?? []) wanted.add(next)
  return new Set([...wanted].flatMap((name) => chunks.get(name)?.moduleIds ?? []))
}

function without(ids, others) {
  return new Set([...ids].filter((id) => !others.has(id)))
}

const pruning = { 'prune-process': 'src/sdk/prune-process.ts' }
const threads = {
  'capture-thread': 'src/snapshot/capture-thread.ts',
  'hash-thread': 'src/snapshot/hash-thread.ts',
  'stat-thread': 'src/snapshot/stat-thread.ts',
}
// The SDK starts the threads of the program, and its process that prunes.
const withProgram = {
  name: 'with-program',
  transform: (code) =>
    code.replaceAll(/new URL\('\.\/([a-z]+-(?:thread|process)\.js)'/g, "new URL('../cli/$1'"),
}
const besideSdk = {
  name: 'beside-sdk',
  resolveId: (id) => (id === '../index.js' ? { id: './index.js', external: true } : undefined),
}
await bundle({ langgraph: 'src/adapters/langgraph.ts' }, 'dist', { plugins: [besideSdk] })
const sdk = await bundle({ entry: 'src/index.ts' }, 'dist/sdk', {
  format: 'cjs',
  together: { sdk: await modulesOf(['src/index.ts']) },
  plugins: [withProgram],
})
writeFileSync('dist/sdk/package.json', COMMONJS)
const exported = sdk.find(({ name }) => name === 'entry').exports
writeFileSync(
  'dist/index.js',
  `import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)
export const { ${exported.join(', ')} } = require('./sdk/entry.js')
`,
)
// The same one for who cannot import: programs in CommonJS, and test runners that load modules by themselves.
writeFileSync('dist/index.cjs', "module.exports = require('./sdk/entry.js')\n")

// Few files for what the usual commands need: forty small ones take 10 ms more to load.
const usual = ['list', 'save', 'show', 'diff', 'rewind', 'undo', 'redo', 'status']
const capture = await modulesOf(['src/snapshot/capture-calls.ts'])
const main = await modulesOf(['src/cli/main.ts'])
const program = await modulesOf([
  'src/cli/any-classes.ts',
  'src/internal.ts',
  ...usual.map((name) => `src/cli/commands/${name}.ts`),
])
// A hook runs at every tool call of an agent.
const hook = await modulesOf(['src/cli/commands/hook.ts', 'src/adapters/index.ts'])
// A command that the daemon serves loads this file and nothing else.
const start = await modulesOf(['src/cli/forward.ts', 'src/cli/outputs.ts'])
const together = {
  start,
  main: without(main, start),
  program: without(program, main),
  capture: without(capture, program),
  hook: without(without(hook, program), start),
}
// Only `savestate mcp` loads the library of the protocol and the zod that it brings.
const mcpLibrary = {
  name: 'mcp-library',
  resolveId: (id, from) =>
    id === './library.js' && from?.includes('/src/mcp/')
      ? { id: './mcp-library.js', external: true }
      : undefined,
}
await bundle({ cli: 'src/cli/cli.ts' }, 'dist/cli', {
  format: 'cjs',
  together,
  plugins: [mcpLibrary],
})
// By themselves: a thread does not load the whole program for the little it needs of it, and runs nothing but itself.
for (const input of [pruning, threads, { 'mcp-library': 'src/mcp/library.ts' }])
  await bundle(input, 'dist/cli', { format: 'cjs', keepOld: true })
writeFileSync('dist/cli/package.json', COMMONJS)
// Checks the version of Node before anything else is loaded.
copyFileSync('src/cli/bin.cjs', 'dist/cli/bin.js')
chmodSync('dist/cli/bin.js', 0o755)
// Their licenses ask for it.
const bundled = ['@modelcontextprotocol/server', 'jsonc-parser', 'smol-toml', 'yaml', 'zod']
const licenses = bundled.map((name) => {
  const folder = `node_modules/${name}`
  const file = ['LICENSE', 'LICENSE.md'].find((it) => existsSync(`${folder}/${it}`))
  return `${name}\n\n${readFileSync(`${folder}/${file}`, 'utf8')}`
})
writeFileSync('dist/third-party-licenses.txt', licenses.join(`\n${'-'.repeat(80)}\n\n`))
await bundle({ reference: 'src/cli/reference.ts' }, 'build/docs')
// For tests that need two copies of what is not public.
await bundle({ internal: 'src/internal.ts' }, 'build/internal')
if (existsSync('bench/main.ts')) {
  await bundle({ main: 'bench/main.ts' }, 'build/bench')
  // By itself: the benchmark starts its own file again, so no part of it may be in a file that two share.
  await bundle({ month: 'bench/month.ts' }, 'build/bench', { keepOld: true })
}
if (existsSync('torture/main.ts'))
  await bundle(
    { main: 'torture/main.ts', worker: 'torture/worker.ts', model: 'torture/sequence/main.ts' },
    'build/torture',
  )
if (existsSync('agents/main.ts'))
  await bundle({ main: 'agents/main.ts', inside: 'agents/inside.ts' }, 'build/agents')

run('node_modules/typescript/bin/tsc', '-p', 'tsconfig.types.json')

function run(...args) {
  const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}
