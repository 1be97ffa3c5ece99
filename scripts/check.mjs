// What CI runs: format, lint, types and build beside each other, then all tests. Ends with 1 if any of them fails.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import process from 'node:process'

const STEPS = [
  ['biome', 'format', '.'],
  ['oxlint', '--type-aware', '--deny-warnings'],
  ['tsc', '--noEmit'],
  ['node', 'scripts/build.mjs'],
]

/** Its output comes in one piece, so that two steps do not speak at once. */
async function run([command, ...args]) {
  const child = spawn(command, args, { shell: process.platform === 'win32' })
  let output = ''
  child.stdout.on('data', (text) => (output += String(text)))
  child.stderr.on('data', (text) => (output += String(text)))
  const [code] = await once(child, 'close')
  process.stderr.write(`${[command, ...args].join(' ')}\n${output}`)
  return code
}

const codes = await Promise.all(STEPS.map(run))
if (codes.some((code) => code !== 0)) process.exit(1)
const tests = spawn('vitest', ['run'], { stdio: 'inherit', shell: process.platform === 'win32' })
const [code] = await once(tests, 'close')
process.exitCode = code ?? 1
