// Installs the real programs at pinned versions into the user's cache folder, once: about 1.3 GB. Their install
// scripts do not run; none of them needs any.
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import process from 'node:process'
import { isAlive } from './drive.js'

export interface Package {
  /** Also the name of its folder in the cache. */
  readonly name: string
  /** Exact versions. Without one, npm silently takes an older release whose `engines` fits. */
  readonly dependencies: Readonly<Record<string, string>>
  /** A file below node_modules that exists when the install is complete. */
  readonly proof: string
}

const INSTALL_MINUTES = 10

/** The node_modules folder of a package, installed if necessary. */
export async function installed(wanted: Package): Promise<string> {
  const folder = folderOf(wanted)
  if (!existsSync(join(folder, 'node_modules', wanted.proof))) {
    console.error(`Installing ${wanted.name} into ${folder}, once`)
    await install(wanted, folder)
  }
  return join(folder, 'node_modules')
}

function folderOf({ name, dependencies }: Package): string {
  const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache')
  const version = Object.values(dependencies)[0] ?? ''
  const platform = `${process.platform}-${process.arch}`
  return join(cache, 'savestate-agents', `${name}-${version}-${platform}`)
}

/** Renamed to its final name only when complete, so that an interrupted install is not used. */
async function install({ dependencies, proof, name }: Package, folder: string): Promise<void> {
  removeUnfinished(folder)
  const fresh = `${folder}.${process.pid}.new`
  process.once('exit', () => rmSync(fresh, { recursive: true, force: true }))
  mkdirSync(fresh, { recursive: true })
  writeFileSync(join(fresh, 'package.json'), JSON.stringify({ private: true, dependencies }))
  await npmInstall(fresh)
  if (!existsSync(join(fresh, 'node_modules', proof))) {
    throw new Error(`npm has installed ${name}, but ${proof} is not there`)
  }
  rmSync(folder, { recursive: true, force: true })
  renameSync(fresh, folder)
}

/** Removes the leftovers of killed runs; a running one keeps its folder. */
function removeUnfinished(folder: string): void {
  const names = existsSync(dirname(folder)) ? readdirSync(dirname(folder)) : []
  for (const name of names) {
    const [, pid] = /^(?:.*)\.(\d+)\.new$/.exec(name) ?? []
    const isOurs = name.startsWith(`${basename(folder)}.`)
    if (pid === undefined || !isOurs || isAlive(Number(pid))) continue
    rmSync(join(dirname(folder), name), { recursive: true, force: true })
  }
}

/** In the caller's environment, which may configure the registry. */
function npmInstall(folder: string): Promise<void> {
  // `npm run` passes on our engine-strict, and an agent with its own binary asks for a Node version that it never uses.
  const options = ['--ignore-scripts', '--no-engine-strict']
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error']
  const child = spawn('npm', ['install', ...options, ...quiet, '--prefix', folder], {
    cwd: folder,
    stdio: ['ignore', 2, 2],
    timeout: INSTALL_MINUTES * 60_000,
    killSignal: 'SIGKILL',
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => {
      if (code === 0) return resolve()
      reject(new Error(`npm install ended with ${code ?? signal} in ${folder}`))
    })
  })
}
