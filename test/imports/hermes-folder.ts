// A folder as Hermes leaves it, made with real git: repositories of both versions and task files.
import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type GitOptions, runGit } from '../support/scratch.js'

/** The content of each file after a commit; a commit replaces all of them. */
export type Commit = {
  readonly reason: string
  /** Seconds since 1970. */
  readonly at: number
  readonly files?: Readonly<Record<string, string | { readonly executable: string }>>
  /** A tree that git itself would not write: its bytes. */
  readonly rawTree?: Buffer
}

export function hash16(workdir: string): string {
  return createHash('sha256').update(workdir).digest('hex').slice(0, 16)
}

/** `<base>/<hash16>/`, with HERMES_WORKDIR, and the commits on HEAD. Returns its path. */
export function makeVersion1(base: string, workdir: string, commits: readonly Commit[]): string {
  const gitDir = join(base, hash16(workdir))
  mkdirSync(base, { recursive: true })
  runGit(['init', '--quiet', '--bare', gitDir], {})
  writeFileSync(join(gitDir, 'HERMES_WORKDIR'), `${workdir}\n`)
  const tip = commitAll(gitDir, commits)
  if (tip !== undefined) runGit(['--git-dir', gitDir, 'update-ref', 'HEAD', tip], {})
  return gitDir
}

/** A project in `<base>/store/`. Returns the ref. */
export function addVersion2(base: string, workdir: string, commits: readonly Commit[]): string {
  const store = join(base, 'store')
  mkdirSync(join(store, 'projects'), { recursive: true })
  runGit(['init', '--quiet', '--bare', store], {})
  const tip = commitAll(store, commits)
  const ref = `refs/hermes/${hash16(workdir)}`
  if (tip !== undefined) runGit(['--git-dir', store, 'update-ref', ref, tip], {})
  writeFileSync(
    join(store, 'projects', `${hash16(workdir)}.json`),
    JSON.stringify({ workdir, created_at: 1_700_000_000, last_touch: 1_700_000_000.5 }),
  )
  return ref
}

/** Linear, the first without a parent; the id of the last. */
export function commitAll(gitDir: string, commits: readonly Commit[]): string | undefined {
  let parent: string | undefined
  for (const { reason, at, files, rawTree } of commits) {
    const tree = rawTree === undefined ? treeOf(gitDir, files ?? {}) : writeRawTree(gitDir, rawTree)
    const dates = { GIT_AUTHOR_DATE: `${at} +0200`, GIT_COMMITTER_DATE: `${at + 5} +0000` }
    const args = parent === undefined ? [] : ['-p', parent]
    parent = git(gitDir, ['commit-tree', tree, ...args], { env: dates, input: `${reason}\n` })
  }
  return parent
}

export function git(gitDir: string, args: readonly string[], options: GitOptions = {}): string {
  return runGit(['--git-dir', gitDir, ...args], options)
}

export function blobOf(gitDir: string, content: string | Buffer): string {
  return git(gitDir, ['hash-object', '-w', '--stdin'], { input: content })
}

export function treeEntry(mode: string, name: string | Buffer, id: string): Buffer {
  return Buffer.concat([
    Buffer.from(`${mode} `),
    Buffer.from(name),
    Buffer.from([0]),
    Buffer.from(id, 'hex'),
  ])
}

export function writeRawTree(gitDir: string, bytes: Buffer): string {
  return git(gitDir, ['hash-object', '-t', 'tree', '-w', '--literally', '--stdin'], {
    input: bytes,
  })
}

function treeOf(gitDir: string, files: NonNullable<Commit['files']>): string {
  const index = { GIT_INDEX_FILE: join(gitDir, 'test-index') }
  git(gitDir, ['read-tree', '--empty'], { env: index })
  const lines = Object.entries(files).map(([path, content]) => {
    const isPlain = typeof content === 'string'
    const id = blobOf(gitDir, isPlain ? content : content.executable)
    return `${isPlain ? '100644' : '100755'} ${id}\t${path}\n`
  })
  git(gitDir, ['update-index', '--index-info'], { env: index, input: lines.join('') })
  return git(gitDir, ['write-tree'], { env: index })
}
