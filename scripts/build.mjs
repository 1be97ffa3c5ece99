// Builds dist/ (the package: ESM chunks and types) and build/ (the benchmark) with rolldown.
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, rmSync } from 'node:fs'
import process from 'node:process'
import { rolldown } from 'rolldown'

const common = { platform: 'node', external: [/^@photostructure\/sqlite/, /^@langchain\//] }

/** A failed build leaves what is there: the old output goes only when the new one is complete. */
async function bundle(input, dir) {
  const build = await rolldown({ ...common, input })
  const options = { dir, format: 'esm', chunkFileNames: '[name]-[hash].js' }
  await build.generate(options)
  rmSync(dir, { recursive: true, force: true })
  await build.write(options)
  await build.close()
}

await bundle(
  {
    index: 'src/index.ts',
    bin: 'src/bin.ts',
    langgraph: 'src/adapters/langgraph.ts',
    'capture-thread': 'src/snapshot/capture-thread.ts',
    'hash-thread': 'src/snapshot/hash-thread.ts',
    'stat-thread': 'src/snapshot/stat-thread.ts',
  },
  'dist',
)
chmodSync('dist/bin.js', 0o755)
await bundle({ reference: 'src/cli/reference.ts' }, 'build/docs')
if (existsSync('bench/main.ts')) await bundle({ main: 'bench/main.ts' }, 'build/bench')

const types = spawnSync(
  process.execPath,
  ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.types.json'],
  {
    stdio: 'inherit',
  },
)
process.exit(types.status ?? 1)
