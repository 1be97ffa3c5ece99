// `npm run test:nodes`: everything that `npm test` does, with the oldest Node that is promised and the newest of each
// line since; `-- 22 26` for some of them. Each comes from npm, where its program is a package, into a cache folder
// outside the checkout.
import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import process from 'node:process'

const PROMISED = ['20.19.0', '22', '24', '26']

const isWindows = process.platform === 'win32'
const program = `node-${isWindows ? 'win' : process.platform}-${process.arch}`
// Some tests run the program as another user, who may not enter the home of root.
const isRoot = process.getuid?.() === 0
const ownCache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache')
const cache = join(isRoot ? '/var/cache' : ownCache, 'savestate-nodes')

function run(command, args, environment = process.env) {
  const { status } = spawnSync(command, args, {
    stdio: ['ignore', 2, 2],
    env: environment,
    shell: isWindows,
  })
  return status === 0
}

function hasPassed(version) {
  const folder = join(cache, version)
  mkdirSync(folder, { recursive: true })
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error']
  if (!run('npm', ['install', '--prefix', folder, ...quiet, `${program}@${version}`])) return false
  const PATH = join(folder, 'node_modules', program, 'bin') + delimiter + process.env.PATH
  const environment = { ...process.env, PATH }
  return run('node', ['--version'], environment) && run('npm', ['test'], environment)
}

const given = process.argv.slice(2)
const results = (given.length > 0 ? given : PROMISED).map((version) => ({
  version,
  passed: hasPassed(version),
}))
for (const { version, passed } of results)
  console.log(`Node ${version}: ${passed ? 'passed' : 'FAILED'}`)
process.exitCode = results.every(({ passed }) => passed) ? 0 : 1
