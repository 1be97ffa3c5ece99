// A scratch folder for one test: a project, a store, and functions that record every detail of a folder. Real git, real SQLite,
// real files. On dispose, `git fsck --strict` on the store must be clean.
import { execFileSync, spawnSync } from 'node:child_process'
import { hash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as sdk from '../../src/index.js'
import type { Store, StoreOptions } from '../../src/index.js'
import { parsePathText } from '../../src/model/index.js'
import { removeWhole } from './remove-folder.js'

export { sdk }

/** A file, link or folder to create; null removes the path. */
export type FileSpec =
  | string
  | Uint8Array
  | { readonly content: string | Uint8Array; readonly mode: number }
  | { readonly link: string | Buffer }
  | { readonly folder: number }
  | null

/** Everything about a path that a rewind has to restore. `content` is a hash, a link's target, or ''. */
export type Seen = {
  readonly type: 'file' | 'folder' | 'link' | 'special'
  readonly mode: number
  readonly content: string
}

export type LookOptions = {
  /** Paths to skip, with their contents. */
  readonly except?: readonly string[]
}

export type GitOptions = {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  readonly input?: string | Buffer
}

export type Scratch = AsyncDisposable & {
  /** Contains everything of this test. */
  readonly folder: string
  readonly project: string
  readonly home: string
  /** Closed by `dispose` if it is still open then. */
  open(options?: StoreOptions): Promise<Store>
  /** Paths are relative to `folder` (default: the project), in the SDK's text form: `"\377"` is one byte. */
  write(files: Readonly<Record<string, FileSpec>>, folder?: string): void
  /** Keys are relative paths, one character per byte; '' is the folder itself. */
  snapshotOf(folder?: string, options?: LookOptions): Map<string, Seen>
  /** Runs git, independent of the user's configuration; returns its output without the last newline. */
  git(args: readonly string[], options?: GitOptions): string
  /** The complaints of `git fsck --strict` on the store; '' if it is clean or there is none. */
  fsck(): string
  /** Content, mode and modification time of everything in a folder. */
  hashTree(path: string): Map<string, string>
  /** For tests that damage the store: `dispose` skips `fsck`. */
  allowDamage(): void
  dispose(): Promise<void>
}

export const GIT_ENVIRONMENT: Readonly<Record<string, string>> = {
  PATH: process.env['PATH'] ?? '',
  HOME: '/nonexistent',
  LC_ALL: 'C',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'A',
  GIT_AUTHOR_EMAIL: 'a@example.com',
  GIT_COMMITTER_NAME: 'C',
  GIT_COMMITTER_EMAIL: 'c@example.com',
}

export type ScratchOptions = {
  readonly files?: Readonly<Record<string, FileSpec>>
  /** The option of `openStore`: true for no capture thread, as in a command. */
  readonly inProcess?: boolean
}

/** With a capture thread per store, as in a program that keeps its event loop free. */
export function scratchWithThreads(options: ScratchOptions = {}): Promise<Scratch> {
  return scratch({ ...options, inProcess: false })
}

export async function scratch({
  files = {},
  // Starting a thread takes as long as most tests.
  inProcess = true,
}: ScratchOptions = {}): Promise<Scratch> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'savestate-test-')))
  const project = join(folder, 'project')
  const home = join(folder, 'home')
  mkdirSync(project)
  const openStores = new Set<Store>()
  let mayBeDamaged = false

  const self: Scratch = {
    folder,
    project,
    home,
    async open(storeOptions = {}) {
      const store = await sdk.openStore({
        home,
        durability: 'process',
        inProcess,
        shortLived: inProcess,
        ...storeOptions,
      })
      const close = store.close.bind(store)
      store.close = async () => {
        openStores.delete(store)
        await close()
      }
      openStores.add(store)
      return store
    },
    write: (specs, into = project) => {
      for (const [path, spec] of Object.entries(specs)) put(into, path, spec)
    },
    snapshotOf: (of = project, look = {}) => snapshotOf(of, look),
    git: (args, git = {}) => runGit(args, { cwd: project, ...git }),
    fsck: () => fsck(home),
    hashTree,
    allowDamage: () => {
      mayBeDamaged = true
    },
    async dispose() {
      try {
        for (const store of openStores) await store.close()
        const complaints = mayBeDamaged ? '' : fsck(home)
        if (complaints !== '') throw new Error(`git fsck --strict is not clean:\n${complaints}`)
      } finally {
        removeAll(folder)
      }
    },
    [Symbol.asyncDispose]: () => self.dispose(),
  }
  self.write(files)
  return self
}

/** The path as bytes: names need not be UTF-8. */
export function inFolder(folder: string, pathText: string): Buffer {
  return Buffer.concat([
    Buffer.from(`${folder}/`, 'utf8'),
    Buffer.from(parsePathText(pathText), 'latin1'),
  ])
}

export function snapshotOf(folder: string, { except = [] }: LookOptions = {}): Map<string, Seen> {
  const seen = new Map<string, Seen>()
  const left = new Set(except.map((path) => Buffer.from(path, 'utf8').toString('latin1')))
  visit(Buffer.from(folder, 'utf8').toString('latin1'), '')
  return seen

  function visit(absolute: string, path: string): void {
    if (left.has(path)) return
    const bytes = Buffer.from(absolute, 'latin1')
    const stats = lstatSync(bytes)
    const mode = stats.mode & 0o7777
    if (stats.isDirectory()) {
      seen.set(path, { type: 'folder', mode, content: '' })
      const names = readdirSync(bytes, { encoding: 'latin1' }).sort()
      for (const name of names) visit(`${absolute}/${name}`, path === '' ? name : `${path}/${name}`)
    } else if (stats.isFile()) {
      seen.set(path, { type: 'file', mode, content: hash('sha256', readFileSync(bytes)) })
    } else if (stats.isSymbolicLink()) {
      seen.set(path, { type: 'link', mode: 0, content: readlinkSync(bytes, 'latin1') })
    } else {
      seen.set(path, { type: 'special', mode, content: '' })
    }
  }
}

export function hashTree(path: string): Map<string, string> {
  const facts = new Map<string, string>()
  for (const [name, { type, mode, content }] of snapshotOf(path)) {
    const bytes = Buffer.concat([Buffer.from(`${path}/`, 'utf8'), Buffer.from(name, 'latin1')])
    facts.set(name, [type, mode, content, lstatSync(bytes, { bigint: true }).mtimeNs].join(' '))
  }
  return facts
}

export function runGit(args: readonly string[], { cwd, env, input }: GitOptions): string {
  const output = execFileSync('git', ['-c', 'init.defaultBranch=main', ...args], {
    cwd,
    env: { ...GIT_ENVIRONMENT, ...env },
    input: input ?? '',
    stdio: 'pipe',
    maxBuffer: 1 << 28,
  })
  return output.toString('utf8').replace(/\n$/, '')
}

export function fsck(home: string): string {
  if (!existsSync(join(home, 'objects.git'))) return ''
  // Unreferenced objects are garbage, not damage (I2).
  const args = ['--git-dir', join(home, 'objects.git'), 'fsck', '--strict', '--no-dangling']
  const { status, stdout, stderr } = spawnSync('git', args, { env: GIT_ENVIRONMENT })
  const lines = `${stdout.toString()}${stderr.toString()}`.split('\n')
  const complaints = lines.filter((line) => line !== '' && !line.startsWith('notice: '))
  if (status !== 0) complaints.push(`git fsck ended with ${status}`)
  return complaints.join('\n')
}

function put(folder: string, pathText: string, spec: FileSpec): void {
  const path = inFolder(folder, pathText)
  if (spec === null) {
    rmSync(path, { recursive: true })
    return
  }
  const parent = path.subarray(0, path.lastIndexOf('/'))
  if (!existsSync(parent)) mkdirSync(parent, { recursive: true })
  if (typeof spec === 'string' || spec instanceof Uint8Array) {
    writeFileSync(path, spec)
  } else if ('link' in spec) {
    rmSync(path, { force: true })
    symlinkSync(spec.link, path)
  } else if ('folder' in spec) {
    if (!existsSync(path)) mkdirSync(path)
    chmodSync(path, spec.folder)
  } else {
    writeFileSync(path, spec.content)
    chmodSync(path, spec.mode)
  }
}

/** Removes also folders that the user has no access to. */
export function removeAll(folder: string): void {
  const open = (path: string) => {
    const bytes = Buffer.from(path, 'latin1')
    if (lstatSync(bytes, { throwIfNoEntry: false })?.isDirectory() !== true) return
    chmodSync(bytes, 0o700)
    for (const name of readdirSync(bytes, { encoding: 'latin1' })) open(`${path}/${name}`)
  }
  removeWhole(folder, () => open(Buffer.from(folder, 'utf8').toString('latin1')))
}
