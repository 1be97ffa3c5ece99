// Builds dist/ (the package: ESM chunks and types), dist/cli/ (the program) and build/ (the benchmark) with
// rolldown. The program is CommonJS: it starts 20 ms sooner (docs/decisions/0015).
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, rmSync, writeFileSync } from 'node:fs'
import process from 'node:process'
import { rolldown } from 'rolldown'

const common = { platform: 'node', external: [/^@photostructure\/sqlite/, /^@langchain\//] }

/** A failed build leaves what is there: the old output goes only when the new one is complete. */
async function bundle(input, dir, format = 'esm') {
  const build = await rolldown({ ...common, input })
  const options = { dir, format, chunkFileNames: '[name]-[hash].js' }
  await build.generate(options)
  rmSync(dir, { recursive: true, force: true })
  await build.write(options)
  await build.close()
}

const threads = {
  'prune-process': 'src/sdk/prune-process.ts',
  'capture-thread': 'src/snapshot/capture-thread.ts',
  'hash-thread': 'src/snapshot/hash-thread.ts',
  'stat-thread': 'src/snapshot/stat-thread.ts',
}
await bundle({ index: 'src/index.ts', langgraph: 'src/adapters/langgraph.ts', ...threads }, 'dist')
await bundle({ bin: 'src/cli/bin.ts', ...threads }, 'dist/cli', 'cjs')
writeFileSync('dist/cli/package.json', '{ "type": "commonjs" }\n')
chmodSync('dist/cli/bin.js', 0o755)
await bundle({ reference: 'src/cli/reference.ts' }, 'build/docs')
if (existsSync('bench/main.ts')) await bundle({ main: 'bench/main.ts' }, 'build/bench')
if (existsSync('torture/main.ts'))
  await bundle({ main: 'torture/main.ts', worker: 'torture/worker.ts' }, 'build/torture')

const types = spawnSync(
  process.execPath,
  ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.types.json'],
  {
    stdio: 'inherit',
  },
)
process.exit(types.status ?? 1)
