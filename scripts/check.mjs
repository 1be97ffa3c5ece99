// The CI run: the build, which the tests need, then all tests, in parallel with format, lint and types. Exits with 1 if
// any of them fails; a failed format, lint or type check ends the tests too.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import process from 'node:process'

const BESIDE = [
  ['biome', 'format', '.'],
  ['oxlint', '--type-aware', '--deny-warnings'],
  ['tsc', '--noEmit', '--singleThreaded'],
  ['tsc', '--noEmit', '--singleThreaded', '-p', 'ui'],
]

/**
 * The tests use all cores. Several threads of the type checker each check the same types again, and its garbage collector
 * saves memory for time: together twice the CPU time.
 */
const ONE_THREAD = { GOMAXPROCS: '1', GOGC: '300' }

/** Prints its output in one piece, so that the outputs of two steps do not mix. */
async function run([command, ...args]) {
  const env = { ...process.env, ...ONE_THREAD }
  const child = spawn(command, args, { env, shell: process.platform === 'win32' })
  let output = ''
  child.stdout.on('data', (text) => (output += String(text)))
  child.stderr.on('data', (text) => (output += String(text)))
  const [code] = await once(child, 'close')
  process.stderr.write(`${[command, ...args].join(' ')}\n${output}`)
  return code === 0
}

if (!(await run(['node', 'scripts/build.mjs']))) process.exit(1)
const tests = spawn('vitest', ['run'], { stdio: 'inherit', shell: process.platform === 'win32' })
const ended = once(tests, 'close')
const isClean = await Promise.all(
  BESIDE.map(async (step) => {
    const isFine = await run(step)
    if (!isFine) tests.kill()
    return isFine
  }),
)
const [code] = await ended
process.exitCode = code === 0 && isClean.every(Boolean) ? 0 : 1
