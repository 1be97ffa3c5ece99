// Sets up a fresh clone: installs the locked packages if they are missing or stale, and builds
// on request. Plain JavaScript on purpose: it runs before anything is installed.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** npm keeps what it installed in node_modules/.package-lock.json; compare that with what is locked. */
function isInstalled() {
  const installedFile = join(root, 'node_modules', '.package-lock.json')
  if (!existsSync(installedFile)) return false
  const installed = JSON.parse(readFileSync(installedFile, 'utf8')).packages
  const locked = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages
  return Object.entries(locked).every(
    ([path, entry]) =>
      path === '' || entry.optional === true || installed[path]?.version === entry.version,
  )
}

function run(command, args) {
  const child = spawnSync(command, args, {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  })
  if (child.status !== 0) process.exit(child.status ?? 1)
}

if (!isInstalled()) {
  console.error('Installing the locked development packages (once, about half a minute) …')
  // Not `npm ci`: it refuses a lock file that lacks the packages of other systems, which a registry need
  // not have. This takes the locked versions as well, and leaves the lock file as it is.
  run('npm', ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error'])
}
if (process.argv.includes('--build')) run(process.execPath, ['scripts/build.mjs'])
