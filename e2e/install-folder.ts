// The scratch folder of one case: a home, a git project, a store, and a folder for recorded events.
import { execFileSync } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ModelServer, startModelServer } from './model-server/server.js'

export interface Sandbox {
  readonly root: string
  readonly home: string
  readonly project: string
  readonly store: string
  readonly records: string
  readonly server: ModelServer
  readonly environment: Readonly<Record<string, string>>
  close(): Promise<void>
}

export async function makeSandbox(files: Readonly<Record<string, string>>): Promise<Sandbox> {
  const root = mkdtempSync(join(tmpdir(), 'savestate-agents-'))
  const folders = { home: 'home', project: 'project', store: 'store', records: 'records' }
  for (const name of [...Object.values(folders), 'tmp', 'bin']) {
    mkdirSync(join(root, name), { mode: 0o700 })
  }
  const project = join(root, folders.project)
  const environment = {
    PATH: [join(root, 'bin'), dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(
      ':',
    ),
    HOME: join(root, folders.home),
    // One agent refuses to keep its helper programs below the temporary folder.
    TMPDIR: join(root, 'tmp'),
    SAVESTATE_HOME: join(root, folders.store),
    LANG: 'C.UTF-8',
    TERM: 'xterm-256color',
    NO_COLOR: '1',
  }
  for (const [name, content] of Object.entries(files)) writeFileSync(join(project, name), content)
  const git = ['-c', 'user.name=test', '-c', 'user.email=test@localhost']
  execFileSync('git', ['init', '--quiet', project], { env: environment })
  execFileSync('git', ['-C', project, 'add', '.'], { env: environment })
  execFileSync('git', ['-C', project, ...git, 'commit', '--quiet', '-m', 'start'], {
    env: environment,
  })
  const server = await startModelServer()
  return {
    root,
    home: environment.HOME,
    project,
    store: environment.SAVESTATE_HOME,
    records: join(root, folders.records),
    server,
    environment,
    async close() {
      await server.close()
      if (process.env['KEEP_PLACES'] === undefined) await removed(root)
    },
  }
}

/** Every file of the project with its content, without git's and the agents' own folders. */
export function filesOf(sandbox: Sandbox): Record<string, string> {
  const files = readdirSync(sandbox.project, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => [name, readFileSync(join(sandbox.project, name), 'latin1')] as const)
  return Object.fromEntries(files.sort(([a], [b]) => (a < b ? -1 : 1)))
}

export function writeHome(sandbox: Sandbox, path: string, content: string): void {
  const file = join(sandbox.home, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, content)
}

/** A read-only folder may be large, so it is not copied. */
export function linkHome(sandbox: Sandbox, path: string, to: string): void {
  symlinkSync(to, join(sandbox.home, path))
}

const ATTEMPTS = 20
const PAUSE_MS = 100

/** A daemon notices late that its store was removed, and may write to it meanwhile. */
async function removed(root: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      rmSync(root, { recursive: true, force: true })
      return
    } catch (error) {
      const isFilled = error instanceof Error && 'code' in error && error.code === 'ENOTEMPTY'
      if (!isFilled || attempt === ATTEMPTS) throw error
      await sleep(PAUSE_MS)
    }
  }
}
