// Builds dist/ (the package: ESM chunks and types) and build/ (the benchmark) with rolldown.
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, rmSync } from 'node:fs'
import process from 'node:process'
import { rolldown } from 'rolldown'

const common = { platform: 'node', external: [/^@photostructure\/sqlite/] }

async function bundle(input, dir) {
  rmSync(dir, { recursive: true, force: true })
  const build = await rolldown({ ...common, input })
  await build.write({ dir, format: 'esm', chunkFileNames: '[name]-[hash].js' })
  await build.close()
}

await bundle(
  {
    index: 'src/index.ts',
    bin: 'src/bin.ts',
    'capture-thread': 'src/snapshot/capture-thread.ts',
    'hash-thread': 'src/snapshot/hash-thread.ts',
  },
  'dist',
)
chmodSync('dist/bin.js', 0o755)
if (existsSync('bench/main.ts')) await bundle({ main: 'bench/main.ts' }, 'build/bench')

const types = spawnSync(
  process.execPath,
  ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.types.json'],
  {
    stdio: 'inherit',
  },
)
process.exit(types.status ?? 1)
