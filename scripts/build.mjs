// Builds dist/ (entry files and types), dist/cli/ (the program and the SDK) and build/ (the benchmark) with rolldown.
// dist/cli/ is CommonJS, which loads 20 ms faster than ESM (docs/decisions/0015).
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import process from 'node:process'
import { rolldown } from 'rolldown'
import { buildUi } from './build-ui.mjs'

const common = {
  platform: 'node',
  // Not bundled: an optional peer, and the driver of the browser, which starts files of its own.
  external: [/^@langchain\//, 'pg', 'playwright-core'],
  // Modules that are grouped into one file are loaded together although their import is dynamic.
  checks: { ineffectiveDynamicImport: false },
  // Its entry file for Node loads its parts in a way that bundlers cannot follow.
  resolve: { alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' } },
}

/** Removes the old output only when the new one is complete, so a failed build changes nothing. */
async function bundle(input, dir, options = {}) {
  const { format = 'esm', together = {}, keepOld = false, plugins = [] } = options
  // The entries of a bundle with groups may export more than their source does: shared modules end up in them.
  const preserveEntrySignatures = 'allow-extension'
  const build = await rolldown({ ...common, input, plugins, preserveEntrySignatures })
  const groups = Object.entries(together).map(([name, ids], index) => ({
    name,
    priority: 9 - index,
    test: (id) => ids.has(id),
  }))
  const chunkFileNames = ({ name }) => (name in together ? '[name].js' : '[name]-[hash].js')
  // A group contains exactly its modules, not everything that an index.ts exports.
  const codeSplitting = { groups, includeDependenciesRecursively: false }
  const made = {
    dir,
    format,
    chunkFileNames,
    comments: COMMENTS,
    ...(groups.length > 0 ? { codeSplitting } : {}),
  }
  await build.generate(made)
  if (!keepOld) rmSync(dir, { recursive: true, force: true })
  const { output } = await build.write(made)
  await build.close()
  return output
}

// Comments would be read at every start.
const COMMENTS = { legal: true, annotation: false, jsdoc: false }
const COMMONJS = '{ "type": "commonjs" }\n'

/** The modules that these files import statically, directly or not. */
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

async function exportsOf(file) {
  const build = await rolldown({ ...common, input: file })
  const { output } = await build.generate({ format: 'esm' })
  await build.close()
  return output.find(({ isEntry }) => isEntry).exports
}

const besideSdk = {
  name: 'beside-sdk',
  resolveId: (id) => (id === '../index.js' ? { id: './index.js', external: true } : undefined),
}
await bundle({ langgraph: 'src/langgraph/saver.ts' }, 'dist', { plugins: [besideSdk] })

// A few large files: forty small ones take 10 ms longer to load. Each group contains the modules that earlier ones lack.
const usual = ['list', 'save', 'show', 'diff', 'rewind', 'undo', 'status']
const commands = usual.map((name) => `src/cli/commands/${name}.ts`)
const groups = Object.entries({
  // All that a hook loads if the daemon answers it.
  start: ['src/cli/hook/forward-hook.ts', 'src/cli/terminal/stdio.ts'],
  // A save by the daemon loads these two.
  main: ['src/cli/start/main.ts', 'src/cli/commands/save.ts'],
  sdk: ['src/index.ts'],
  commands: ['src/internal.ts', 'src/cli/runtime/opaque-classes.ts', ...commands],
  capture: ['src/snapshot/worker/capture-calls.ts'],
  hook: ['src/cli/commands/hook.ts', 'src/agents/index.ts'],
})
const together = {}
for (const [name, files] of groups) together[name] = await modulesOf(files)
// The SDK is beside the program, so that both start the same threads.
const inputs = {
  cli: 'src/cli/start/entry.ts',
  entry: 'src/index.ts',
  'prune-process': 'src/sdk/maintenance/prune-process.ts',
  'push-process': 'src/sdk/maintenance/push-process.ts',
}
// Only `savestate mcp` loads the protocol library and the zod that it needs.
const mcpLibrary = {
  name: 'mcp-library',
  resolveId: (id, from) =>
    id === './library.js' && from?.includes('/src/mcp/')
      ? { id: './mcp-library.js', external: true }
      : undefined,
}
await bundle(inputs, 'dist/cli', { format: 'cjs', together, plugins: [mcpLibrary] })
// Bundled separately: a thread loads only its own code, not the shared files of the program.
const threads = ['capture-thread', 'hash-thread', 'stat-thread']
await bundle(
  Object.fromEntries(threads.map((name) => [name, `src/snapshot/worker/${name}.ts`])),
  'dist/cli',
  { format: 'cjs', keepOld: true },
)
await bundle({ 'mcp-library': 'src/mcp/library.ts' }, 'dist/cli', { format: 'cjs', keepOld: true })
// Shared modules of the program add exports to the entry, so the public names are taken from the source.
const exported = await exportsOf('src/index.ts')
writeFileSync(
  'dist/index.js',
  `import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)
export const { ${exported.join(', ')} } = require('./cli/entry.js')
`,
)
// The same module for CommonJS programs and test runners.
writeFileSync(
  'dist/index.cjs',
  `const { ${exported.join(', ')} } = require('./cli/entry.js')

module.exports = { ${exported.join(', ')} }
`,
)
writeFileSync('dist/cli/package.json', COMMONJS)
// Checks the version of Node before it loads anything else.
copyFileSync('src/cli/start/bin.cjs', 'dist/cli/bin.js')
chmodSync('dist/cli/bin.js', 0o755)
// SQLite for Nodes without a usable one of their own (docs/decisions/0002).
cpSync('node_modules/@photostructure/sqlite/prebuilds', 'dist/prebuilds', { recursive: true })
await buildUi()
// Their licenses require it.
const bundled = [
  '@modelcontextprotocol/server',
  '@photostructure/sqlite',
  '@pierre/highlights',
  '@preact/signals',
  '@preact/signals-core',
  '@tanstack/virtual-core',
  'diff',
  'get-east-asian-width',
  'jsonc-parser',
  'preact',
  'smol-toml',
  'yaml',
  'zod',
]
const licenses = bundled.map((name) => {
  const folder = `node_modules/${name}`
  const file = ['LICENSE', 'LICENSE.md', 'license'].find((it) => existsSync(`${folder}/${it}`))
  return `${name}\n\n${readFileSync(`${folder}/${file}`, 'utf8')}`
})
writeFileSync('dist/third-party-licenses.txt', licenses.join(`\n${'-'.repeat(80)}\n\n`))
await bundle({ reference: 'scripts/cli-docs.ts' }, 'build/docs')
// For tests that need two copies of non-public code.
await bundle({ internal: 'src/internal.ts' }, 'build/internal')
if (existsSync('bench/main.ts')) {
  await bundle({ main: 'bench/main.ts' }, 'build/bench')
  // Bundled separately: the benchmark starts its own file again, so it must not share files.
  await bundle({ month: 'bench/month/main.ts' }, 'build/bench', { keepOld: true })
}
if (existsSync('torture/main.ts'))
  await bundle(
    { main: 'torture/main.ts', worker: 'torture/worker.ts', model: 'torture/sequence/main.ts' },
    'build/torture',
  )
if (existsSync('e2e/main.ts'))
  await bundle({ main: 'e2e/main.ts', inside: 'e2e/inside.ts' }, 'build/e2e')

run('node_modules/typescript/bin/tsc', '-p', 'tsconfig.types.json')

function run(...args) {
  const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}
