// What CI runs: the build, which the tests need, then all tests, with format, lint and types beside them. Ends with 1 if
// any of them fails; a fault that is no test's ends the tests too.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import process from 'node:process'

const BESIDE = [
  ['biome', 'format', '.'],
  ['oxlint', '--type-aware', '--deny-warnings'],
  ['tsc', '--noEmit'],
]

/** Its output comes in one piece, so that two steps do not speak at once. */
async function run([command, ...args]) {
  const child = spawn(command, args, { shell: process.platform === 'win32' })
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
