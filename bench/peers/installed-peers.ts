/**
 * Peers that are npm packages. They are not dependencies of this project, because one of them
 * compiles for minutes. The benchmark installs them on first use into a folder of the user's cache, one
 * for each set of versions, and finds them there the next time.
 */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { type Bench, shared } from '../bench.js'
import { track } from '../programs.js'

type PeerSet = {
  readonly name: string
  readonly versions: Readonly<Record<string, string>>
}

const COMMON = { '@langchain/core': '1.2.13', '@langchain/langgraph-checkpoint': '1.1.5' }

const SQLITE_SAVER: PeerSet = {
  name: 'SqliteSaver',
  versions: {
    ...COMMON,
    '@langchain/langgraph-checkpoint-sqlite': '1.0.4',
    'better-sqlite3': '12.11.1',
  },
}

const POSTGRES_SAVER: PeerSet = {
  name: 'PostgresSaver',
  versions: { ...COMMON, '@langchain/langgraph-checkpoint-postgres': '1.0.5' },
}

export type InstalledPeers =
  | { readonly ok: true; readonly folder: string }
  /** Why they are missing, for the report. */
  | { readonly ok: false; readonly why: string }

/** It may compile for some minutes. */
export const installedPeers = installed(SQLITE_SAVER)
export const postgresPeers = installed(POSTGRES_SAVER)

/** Installs them if necessary. A failed attempt is not repeated in the same run. */
function installed(peers: PeerSet): (bench: Bench) => Promise<InstalledPeers> {
  return shared(async ({ log }) => {
    const folder = cacheFolder(peers)
    if (existsSync(folder)) return { ok: true, folder }
    try {
      log(`installing ${peers.name} into ${folder}, once`)
      await install(folder, peers)
      return { ok: true, folder }
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      return { ok: false, why: `${peers.name} could not be installed into ${folder}: ${reason}` }
    }
  })
}

/** The folder. Throws if there is none. */
export function requirePeers(installed: InstalledPeers): string {
  if (!installed.ok) throw new Error(installed.why)
  return installed.folder
}

/** Compiled code fits one ABI version of Node on one system. */
function cacheFolder({ versions: packages }: PeerSet): string {
  const { platform, arch, versions } = process
  const identity = JSON.stringify([packages, platform, arch, versions.modules])
  const hash = createHash('sha256').update(identity).digest('hex').slice(0, 16)
  const cache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache')
  return join(cache, 'savestate-bench', hash)
}

/** Renamed to its final name only when complete, so that an interrupted install is not used. */
async function install(folder: string, { versions }: PeerSet): Promise<void> {
  const fresh = `${folder}.${process.pid}.new`
  // Also if the run is interrupted.
  process.once('exit', () => rmSync(fresh, { recursive: true, force: true }))
  mkdirSync(fresh, { recursive: true })
  const wanted = { private: true, dependencies: versions }
  writeFileSync(join(fresh, 'package.json'), JSON.stringify(wanted, undefined, 2))
  await npmInstall(fresh)
  // Another run may have been faster.
  if (!existsSync(folder)) renameSync(fresh, folder)
}

const INSTALL_MINUTES = 10

/**
 * In the caller's environment, which may configure the registry. Scripts are allowed,
 * whatever the settings of this project say: without them nothing is compiled.
 */
function npmInstall(folder: string): Promise<void> {
  const args = ['install', '--ignore-scripts=false', '--no-audit', '--no-fund', '--loglevel=error']
  return new Promise((resolve, reject) => {
    const child = spawn('npm', [...args, '--prefix', folder], {
      cwd: folder,
      // The parent's stdout belongs to the report alone.
      stdio: ['ignore', 2, 'pipe'],
      shell: process.platform === 'win32',
      timeout: INSTALL_MINUTES * 60_000,
      killSignal: 'SIGKILL',
    })
    track(child)
    let said = ''
    child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      said += chunk
      process.stderr.write(chunk)
    })
    child.on('error', (error) => reject(new Error(`npm cannot be started: ${error.message}`)))
    child.on('close', (code, signal) => {
      if (code === 0) return resolve()
      reject(new Error(`npm install ended with ${code ?? signal}: ${firstReasons(said)}`))
    })
  })
}

const REASONS = 4

/** The first lines of npm's error, without its stack trace. */
function firstReasons(said: string): string {
  const lines = said.split('\n').filter((line) => line.startsWith('npm error '))
  const reasons = lines.slice(0, REASONS).map((line) => line.slice('npm error '.length).trim())
  return reasons.length === 0 ? 'it gave no reason' : reasons.join('; ')
}
