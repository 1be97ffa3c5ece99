// Helpers of the capture suites beyond scratch.ts: reading the store with git alone, and running a child process, possibly
// as another user.
import { execFile, execFileSync } from 'node:child_process'
import { existsSync, lchownSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import type { CheckpointDetails, Project, Store } from '../../../src/index.js'
import { GIT_ENVIRONMENT, type Scratch } from '../../support/scratch.js'

export type Stored = {
  readonly type: 'file' | 'executable' | 'link' | 'folder'
  readonly id: string
}

const TYPE_OF: Readonly<Record<string, Stored['type']>> = {
  '100644': 'file',
  '100755': 'executable',
  '120000': 'link',
  '040000': 'folder',
}

export function storeGit({ home }: { readonly home: string }, ...args: readonly string[]): Buffer {
  return execFileSync('git', ['--git-dir', join(home, 'objects.git'), ...args], {
    env: GIT_ENVIRONMENT,
    stdio: 'pipe',
    maxBuffer: 1 << 28,
  })
}

/** Everything below `files` of a checkpoint, by path, one character per byte. */
export function storedTree(s: { readonly home: string }, ref: string | null): Map<string, Stored> {
  const output = storeGit(s, 'ls-tree', '-r', '-t', '-z', '--full-tree', `${ref}:files`)
  const stored = new Map<string, Stored>()
  for (const line of output.toString('latin1').split('\0')) {
    const [, mode = '', id = '', path = ''] =
      /^(\d{6}) \w+ (\w{40})\t([^]*)$/.exec(line) ?? ([] as string[])
    const type = TYPE_OF[mode]
    if (type !== undefined) stored.set(path, { type, id })
  }
  return stored
}

/** The content of a path in a checkpoint, by `git cat-file`. */
export function storedBytes(s: { readonly home: string }, ref: string, path: string): Buffer {
  const entry = storedTree(s, ref).get(path)
  expect(entry, `${JSON.stringify(path)} in the checkpoint`).toBeDefined()
  return storeGit(s, 'cat-file', 'blob', entry?.id ?? '')
}

/** The mode of a path in the checkpoint's `modes` blob; a folder's path ends with a slash. */
export function storedMode(
  s: { readonly home: string },
  ref: string | null,
  { path, like }: { readonly path: string; readonly like: 'file' | 'executable' | 'folder' },
): number {
  const text = storeGit(s, 'cat-file', 'blob', `${ref}:modes`).toString('latin1')
  const usual = new RegExp(`^${like} ([0-7]+)$`, 'm').exec(text)?.[1] ?? ''
  const unusual = text
    .slice(text.indexOf('\nfolder '))
    .replace(/^\nfolder [0-7]+\n/, '')
    .split('\0')
    .find((line) => line.slice(line.indexOf(' ') + 1) === path)
  return Number.parseInt(unusual?.split(' ')[0] ?? usual, 8)
}

/** The files and links in a checkpoint, as sorted text. */
export function capturedFiles(s: { readonly home: string }, ref: string | null): string[] {
  return [...storedTree(s, ref)]
    .flatMap(([path, { type }]) => (type === 'folder' ? [] : path))
    .sort()
}

/** Saves the project of a scratch folder and returns the checkpoint's details. */
export async function saved(
  project: Project,
): Promise<CheckpointDetails & { readonly created: boolean; readonly ref: string }> {
  const { id, created } = await project.save()
  const details = await project.show(id)
  return { ...details, ref: details.ref ?? '', created }
}

export async function openProject(
  s: Scratch,
  options: Parameters<Scratch['open']>[0] = {},
): Promise<{ store: Store; project: Project }> {
  const store = await s.open(options)
  return { store, project: await store.project(s.project) }
}

/** The paths that were skipped for a reason, sorted. */
export function skippedFor({ skippedPaths }: CheckpointDetails, reason: string): string[] {
  return skippedPaths
    .filter((skipped) => skipped.reason === reason)
    .map(({ path }) => path)
    .sort()
}

/** Longer than the 100 ms during which the stamp of a new file is unreliable. */
export function waitForStableStamps(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 120))
}

export type ChildOptions = {
  readonly env?: Readonly<Record<string, string>>
  /** Started by root, the child becomes an ordinary user once the store is open. */
  readonly asOrdinaryUser?: boolean
  /** Do not change the owner of the scratch folder and its contents. */
  readonly keepsOwners?: boolean
  /** As for `openStore`: true runs without a capture thread. */
  readonly inProcess?: boolean
}

const ORDINARY_USER = 65534

/**
 * Runs the body of an async function in a new process and returns its result. The body can use `sdk`, `store`, `project`,
 * `fs`, `scratch` (the folders) and `codeOf` (a promise's error code, or 'none').
 */
export async function inChild(
  s: Scratch,
  body: string,
  { env = {}, asOrdinaryUser = false, keepsOwners = false, inProcess = false }: ChildOptions = {},
): Promise<unknown> {
  const isRoot = process.getuid?.() === 0
  const folders = { folder: s.folder, project: s.project, home: s.home }
  if (asOrdinaryUser && isRoot && !keepsOwners) give(s.folder, ORDINARY_USER)
  // It opens the store as root, who rejects a store of another user.
  if (isRoot && existsSync(s.home)) give(s.home, 0)
  const script = `
    import * as fs from 'node:fs'
    import * as path from 'node:path'
    import * as childProcess from 'node:child_process'
    const sdk = await import(${JSON.stringify(new URL('../../../dist/index.js', import.meta.url).href)})
    const scratch = ${JSON.stringify(folders)}
    const codeOf = (promise) => promise.then(() => 'none', (error) => error.code ?? String(error))
    const own = (at) => {
      fs.lchownSync(at, ${ORDINARY_USER}, ${ORDINARY_USER})
      if (fs.lstatSync(at).isDirectory()) for (const name of fs.readdirSync(at)) own(path.join(at, name))
    }
    const store = await sdk.openStore({ home: scratch.home, durability: 'process', inProcess: ${inProcess} })
    if (${asOrdinaryUser && isRoot}) {
      // Only root may be able to read the threads and the SQLite driver, so load them first.
      const warm = path.join(scratch.folder, 'warm-up')
      fs.mkdirSync(warm, { recursive: true })
      await (await store.project(warm)).save()
      own(scratch.home)
      process.setgroups([])
      process.setgid(${ORDINARY_USER})
      process.setuid(${ORDINARY_USER})
    }
    const project = await store.project(scratch.project).catch(() => undefined)
    const answer = await (async () => { ${body} })()
    await store.close()
    process.stdout.write(JSON.stringify(answer ?? null))
  `
  const file = join(s.folder, 'child.mjs')
  writeFileSync(file, script)
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [file], {
      cwd: '/',
      env: { ...process.env, ...env },
      maxBuffer: 1 << 28,
    })
    return JSON.parse(stdout)
  } finally {
    if (isRoot && existsSync(s.home)) give(s.home, 0)
  }
}

/** Makes a user the owner of a folder and its contents; needs root. */
export function give(path: string, user: number): void {
  lchownSync(path, user, user)
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const inside = join(path, entry.name)
    if (entry.isDirectory()) give(inside, user)
    else lchownSync(inside, user, user)
  }
}
