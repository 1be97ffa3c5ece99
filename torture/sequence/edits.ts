// Random edits of a folder, as data: the program itself and a second process make the same ones.
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  closeSync,
  existsSync,
  fchmodSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  type Stats,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import type { Random } from '../../bench/trees/random.js'

export type Edit =
  | { readonly kind: 'write'; readonly path: string; readonly text: string; readonly mode: number }
  | { readonly kind: 'link'; readonly path: string; readonly target: string }
  | { readonly kind: 'folder'; readonly path: string; readonly mode: number }
  | { readonly kind: 'remove'; readonly path: string }
  | { readonly kind: 'rename'; readonly path: string; readonly to: string }
  | { readonly kind: 'pipe'; readonly path: string }
  | { readonly kind: 'git'; readonly args: readonly string[] }

/** No rule here excludes these, so every checkpoint must contain them. */
export const PLAIN = ['a.txt', 'src/b.ts', 'src/deep/c.ts', 'src/deep', 'bin/run', 'odd \xff name']
/** Rules, git's index or limits decide whether these are captured. */
const DECIDED = [
  'app.db',
  'gen/x.ts',
  'gen/deep/y.ts',
  'cache/1',
  'cache/2',
  'n.tmp',
  'dist/app.js',
]
const UNUSUAL = ['big.bin', '.env', 'debug.log']
const NAMES = [...PLAIN, ...DECIDED, ...UNUSUAL]
/** Only a second process writes here, while the program under test runs. */
export const BUSY = 'busy'
/** Between the two limits on the size of a file that the sequence switches between. */
const LARGE_BYTES = 5000

const RULES = {
  '.gitignore': ['*.db', 'gen/', 'cache/', '*.tmp'],
  '.git/info/exclude': ['cache/', '*.db', 'gen/deep/'],
  '.savestateignore': ['gen/', '!dist/', '!.env', '*.tmp'],
} as const

export function randomEdit(random: Random): Edit {
  const path = random.pick(NAMES)
  switch (random.below(12)) {
    case 0:
      return { kind: 'remove', path }
    case 1:
      return { kind: 'remove', path: dirname(path) === '.' ? path : dirname(path) }
    case 2:
      return { kind: 'rename', path: random.pick(PLAIN), to: random.pick(NAMES) }
    case 3:
      return { kind: 'link', path, target: random.pick(['a.txt', '../outside', 'src', 'nowhere']) }
    case 4:
      return { kind: 'folder', path, mode: random.pick([0o755, 0o700]) }
    case 5:
      return random.below(4) === 0
        ? { kind: 'pipe', path: random.pick(DECIDED) }
        : write(path, random)
    default:
      return write(path, random)
  }
}

export function randomRules(random: Random): Edit {
  const path = random.pick(Object.keys(RULES) as (keyof typeof RULES)[])
  const lines = RULES[path].filter(() => random.below(2) === 0)
  return { kind: 'write', path, text: lines.map((line) => `${line}\n`).join(''), mode: 0o644 }
}

export function randomGit(random: Random): Edit {
  const path = random.pick(NAMES)
  return random.pick<Edit>([
    { kind: 'git', args: ['add', '-f', '--', path] },
    { kind: 'git', args: ['rm', '-rq', '--cached', '--ignore-unmatch', '--', path] },
    { kind: 'git', args: ['commit', '-qm', 'c', '--allow-empty'] },
    { kind: 'git', args: ['checkout', '-qf', 'main'] },
    { kind: 'git', args: ['checkout', '-qf', 'release'] },
    { kind: 'git', args: ['stash', '-q'] },
  ])
}

export function busyEdit(random: Random): Edit {
  return write(`${BUSY}/${random.below(4)}`, random)
}

function write(path: string, random: Random): Edit {
  const text = `${path} ${random.below(6)}\n`
  const isLarge = path === 'big.bin' || random.below(12) === 0
  const maySizeMatter = !PLAIN.includes(path) && !path.startsWith(`${BUSY}/`)
  return {
    kind: 'write',
    path,
    text: isLarge && maySizeMatter ? text.padEnd(LARGE_BYTES) : text,
    mode: random.pick([0o644, 0o644, 0o600, 0o755]),
  }
}

/** Replaces anything at the path, including folders, and files at its parents. */
export function applyEdit(folder: string, edit: Edit): void {
  if (edit.kind === 'git') {
    runGit(folder, edit.args)
    return
  }
  const path = bytesOf(folder, edit.path)
  if (edit.kind === 'remove') {
    if (statsOf(path) !== undefined) rmSync(path, { recursive: true })
    return
  }
  if (edit.kind === 'rename') {
    const isOneInOther = `${edit.to}/`.startsWith(`${edit.path}/`)
    if (isOneInOther || statsOf(path) === undefined) return
    makeRoom(folder, edit.to, { keepFile: false })
    if (existsSync(path)) renameSync(path, bytesOf(folder, edit.to))
    return
  }
  if (edit.kind === 'folder' && statsOf(path)?.isDirectory() === true) {
    chmodSync(path, edit.mode)
    return
  }
  // A file keeps its inode when it is written again, as with most editors.
  makeRoom(folder, edit.path, { keepFile: edit.kind === 'write' })
  if (edit.kind === 'link') symlinkSync(edit.target, path)
  else if (edit.kind === 'pipe') execFileSync('mkfifo', [path.toString('latin1')])
  else if (edit.kind === 'folder') mkdirSync(path, { mode: edit.mode })
  else {
    // By its descriptor: a rewind may remove the file right after it is made.
    const file = openSync(path, 'w')
    writeFileSync(file, edit.text, 'latin1')
    fchmodSync(file, edit.mode)
    closeSync(file)
  }
}

/** Edits during a rewind, which may remove or restore the folder between two of these calls. */
export function applyBeside(folder: string, edit: Edit): void {
  try {
    applyEdit(folder, edit)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code !== 'ENOENT' && code !== 'EEXIST') throw error
  }
}

/** Git refuses some of these, as it should, for example a stash before the first commit. */
function runGit(folder: string, args: readonly string[]): void {
  try {
    execFileSync('git', ['-C', folder, ...args], { stdio: 'pipe', env: GIT_ENVIRONMENT })
  } catch (error) {
    if (!(error instanceof Error && 'status' in error && typeof error.status === 'number'))
      throw error
  }
}

export const GIT_ENVIRONMENT = {
  PATH: process.env['PATH'] ?? '',
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'A',
  GIT_AUTHOR_EMAIL: 'a@example.com',
  GIT_COMMITTER_NAME: 'C',
  GIT_COMMITTER_EMAIL: 'c@example.com',
}

function makeRoom(
  folder: string,
  path: string,
  { keepFile }: { readonly keepFile: boolean },
): void {
  const parts = path.split('/')
  for (let count = 1; count < parts.length; count += 1) {
    const above = bytesOf(folder, parts.slice(0, count).join('/'))
    const stats = statsOf(above)
    if (stats?.isDirectory() === true) continue
    if (stats !== undefined) rmSync(above)
    mkdirSync(above)
  }
  const bytes = bytesOf(folder, path)
  if (!keepFile || statsOf(bytes)?.isFile() !== true)
    rmSync(bytes, { recursive: true, force: true })
}

/** Undefined if nothing exists there, including if a parent is a file. */
function statsOf(path: Buffer): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOTDIR') return undefined
    throw error
  }
}

function bytesOf(folder: string, path: string): Buffer {
  return Buffer.from(`${folder}/${path}`, 'latin1')
}
