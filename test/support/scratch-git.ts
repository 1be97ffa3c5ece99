// Real git in scratch folders, independent of the user's configuration.

import { execFileSync } from 'node:child_process'
import { hash } from 'node:crypto'
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect } from 'vitest'
import { type BytePath, bytePathFromBytes, fsPath } from '../../src/model/index.js'
import { openRepository, type Repository } from '../../src/snapshot/checkout/repository.js'

const ENVIRONMENT = {
  PATH: process.env['PATH'],
  HOME: '/nonexistent',
  LC_ALL: 'C',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'A',
  GIT_AUTHOR_EMAIL: 'a@example.com',
  GIT_AUTHOR_DATE: '2001-02-03T04:05:06Z',
  GIT_COMMITTER_NAME: 'C',
  GIT_COMMITTER_EMAIL: 'c@example.com',
  GIT_COMMITTER_DATE: '2001-02-03T04:05:06Z',
}

/** Returns a function that creates empty folders; they are removed after the test file. */
export function scratchFolders(): () => string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'savestate-checkout-')))
  afterAll(() => rmSync(root, { recursive: true, force: true }))
  let count = 0
  return () => {
    const folder = join(root, String(++count))
    mkdirSync(folder)
    return folder
  }
}

export function git(folder: string, args: readonly string[], input?: Buffer | string): Buffer {
  return execFileSync(
    'git',
    ['-c', 'init.defaultBranch=main', '-c', 'protocol.file.allow=always', ...args],
    { cwd: folder, env: ENVIRONMENT, input: input ?? '', stdio: 'pipe', maxBuffer: 1 << 28 },
  )
}

export function gitText(folder: string, ...args: readonly string[]): string {
  return git(folder, args).toString('utf8').trimEnd()
}

export function write(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(fsPath(join(folder, name, '..')), { recursive: true })
    writeFileSync(fsPath(join(folder, name)), content)
  }
}

export function commit(folder: string, files: Readonly<Record<string, string>>): string {
  write(folder, files)
  git(folder, ['add', '-A'])
  git(folder, ['commit', '-q', '--allow-empty', '-m', 'x'])
  return gitText(folder, 'rev-parse', 'HEAD')
}

export function open(folder: string): Repository {
  const repository = openRepository(folder)
  expect(repository).toBeDefined()
  return repository ?? { worktree: '', gitDir: '', commonDir: '' }
}

let contentFolders = 0

/** Stores many blobs with one git process; their ids, in order. */
export function storeBlobs(gitDir: string, contents: readonly Buffer[]): readonly string[] {
  const folder = join(gitDir, `contents-${++contentFolders}`)
  mkdirSync(folder)
  const paths = contents.map((content, i) => {
    const path = join(folder, String(i))
    writeFileSync(path, content)
    return `${path}\n`
  })
  const ids = git(gitDir, ['hash-object', '-w', '--no-filters', '--stdin-paths'], paths.join(''))
  return ids.toString('latin1').trimEnd().split('\n')
}

/** The tracked paths according to git, without gitlinks. */
export function listed(folder: string, ...args: readonly string[]): readonly BytePath[] {
  const records = git(folder, ['ls-files', '-z', '--stage', ...args])
    .toString('latin1')
    .split('\0')
  const names = records
    .filter((record) => record !== '' && !record.startsWith('160000'))
    .map((record) =>
      bytePathFromBytes(Buffer.from(record.slice(record.indexOf('\t') + 1), 'latin1')),
    )
  return [...new Set(names)]
}

/** Everything about a folder except access times. */
export function fingerprint(folder: string): Readonly<Record<string, string>> {
  const facts: Record<string, string> = {}
  function visit(path: string): void {
    const stats = lstatSync(fsPath(path), { bigint: true })
    const { mode, size, ino, nlink, mtimeNs, ctimeNs } = stats
    let content = ''
    if (stats.isSymbolicLink()) content = readlinkSync(fsPath(path), 'latin1')
    if (stats.isFile()) content = hash('sha1', readFileSync(fsPath(path)))
    facts[path] = [mode, size, ino, nlink, mtimeNs, ctimeNs, content].join(' ')
    if (!stats.isDirectory()) return
    for (const name of readdirSync(fsPath(path), 'latin1')) visit(`${path}/${name}`)
  }
  visit(folder)
  return facts
}
