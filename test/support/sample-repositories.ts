// One maker for each form of index that git writes. Each creates a repository in the given empty folder and returns its worktree.

import { readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bytePath, fsPath } from '../../src/model/index.js'
import { commit, git, write } from './scratch-git.js'

type Maker = (folder: string) => string

const FILES = {
  'a.txt': 'a',
  'a/b/c.txt': 'c',
  'a/b/d.txt': 'd',
  'a-b': 'sorts between a and a/',
  'new\nline\t"quoted"\\': 'n',
  [bytePath('grüße/€')]: 'u',
  'latin-\xe9/\xff\xfe': 'not UTF-8',
  [`${'long/'.repeat(20)}${'n'.repeat(200)}`]: 'l',
}

const NOT_UTF8 = 'not-utf8-\xff'

/** The worktree by a path that can be the working folder of a child process of Node. */
export function forGit(worktree: string): string {
  return worktree.replace(NOT_UTF8, 'plain')
}

/** Decoded in process. */
export const READABLE: Readonly<Record<string, Maker>> = {
  'version 2': (folder) => versioned(folder, 2),
  'version 3': (folder) => versioned(folder, 3),
  'version 4': (folder) => versioned(folder, 4),
  'no index': (folder) => started(folder),
  'an empty index': (folder) => {
    git(started(folder), ['read-tree', '--empty'])
    return folder
  },
  'intent to add': (folder) => {
    git(started(folder, FILES), ['add', '--intent-to-add', 'a.txt', 'a/b'])
    return folder
  },
  'names too long for their length field, version 2': (folder) => withLongNames(folder, 2),
  'names too long for their length field, version 4': (folder) => withLongNames(folder, 4),
  conflicts: (folder) => {
    commit(started(folder), { both: '1', 'deleted/here': '1', 'deleted/there': '1', same: '1' })
    git(folder, ['checkout', '-q', '-b', 'other'])
    git(folder, ['rm', '-q', 'deleted/there'])
    commit(folder, { both: '2', 'deleted/here': '2', added: '2' })
    git(folder, ['checkout', '-q', 'main'])
    git(folder, ['rm', '-q', 'deleted/here'])
    commit(folder, { both: '3', 'deleted/there': '3', added: '3' })
    try {
      git(folder, ['merge', '-q', 'other'])
    } catch {
      // Expected: the merge stops at the conflicts.
    }
    return folder
  },
  'many extensions': (folder) => {
    commit(started(folder), FILES)
    git(folder, ['update-index', '--force-untracked-cache', '--fsmonitor'])
    git(folder, ['status'])
    return folder
  },
  'blocks for threads, version 4': (folder) => {
    // With more entries than this git writes an index in blocks, each with its own first name.
    const names = Array.from({ length: 25_000 }, (_, i) => `dir-${i % 50}/sub/file-${i}`)
    fillIndex(started(folder), names)
    git(folder, ['-c', 'index.threads=4', 'update-index', '--index-version', '4'])
    return folder
  },
  'a repository with a submodule': (folder) => {
    superproject(folder)
    return join(folder, 'super')
  },
  'a submodule': (folder) => {
    superproject(folder)
    return join(folder, 'super', 'nested', 'sub')
  },
  'a linked worktree': (folder) => {
    commit(started(join(folder, 'main')), FILES)
    git(join(folder, 'main'), ['worktree', 'add', '-q', '-b', 'side', '../linked'])
    commit(join(folder, 'linked'), { 'only/here': '1' })
    return join(folder, 'linked')
  },
  'SHA-256': (folder) => {
    commit(started(folder, {}, ['--object-format=sha256']), FILES)
    return folder
  },
  'SHA-256, version 4': (folder) => {
    commit(started(folder, {}, ['--object-format=sha256']), FILES)
    git(folder, ['update-index', '--index-version', '4'])
    return folder
  },
  'a folder whose name is not UTF-8': (folder) => {
    commit(started(join(folder, 'plain')), FILES)
    return renamed(folder)
  },
}

/** Indexes that only git can read. */
export const FOR_GIT: Readonly<Record<string, Maker>> = {
  'a wrong checksum': (folder) => {
    commit(started(folder), FILES)
    const index = join(folder, '.git/index')
    const bytes = readFileSync(index)
    // One bit of a timestamp: git does not check the checksum.
    writeFileSync(index, bytes.fill(bytes.readUInt8(15) ^ 1, 15, 16))
    return folder
  },
  'split index': (folder) => split(folder),
  'split index in a folder whose name is not UTF-8': (folder) => {
    split(join(folder, 'plain'))
    return renamed(folder)
  },
  'SHA-256, split index': (folder) => {
    started(folder, {}, ['--object-format=sha256'])
    return split(folder)
  },
}

/** With folders as entries: `out` and `over`. */
export const SPARSE: Readonly<Record<string, Maker>> = {
  'sparse index': (folder) => sparse(started(folder)),
  'SHA-256, sparse index': (folder) => sparse(started(folder, {}, ['--object-format=sha256'])),
  'SHA-256, sparse index prepared for threads': (folder) => {
    started(folder, {}, ['--object-format=sha256'])
    git(folder, ['config', 'index.recordEndOfIndexEntries', 'true'])
    return sparse(folder)
  },
}

export function started(
  folder: string,
  files: Readonly<Record<string, string>> = {},
  args: readonly string[] = [],
): string {
  git('/', ['init', '-q', ...args, folder])
  write(folder, files)
  return folder
}

function fillIndex(folder: string, names: readonly string[]): void {
  const blob = '0123456789012345678901234567890123456789'
  const records = names.map((name) => `100644 ${blob} 0\t${name}\0`)
  git(folder, ['update-index', '-z', '--index-info'], Buffer.from(records.join(''), 'latin1'))
}

function versioned(folder: string, version: number): string {
  commit(started(folder), FILES)
  symlinkSync('a.txt', join(folder, 'link'))
  write(folder, { later: '1' })
  git(folder, ['add', 'link'])
  // Without a flag that needs it, git writes version 2 where 3 was asked for.
  if (version > 2) git(folder, ['add', '--intent-to-add', 'later'])
  git(folder, ['update-index', '--index-version', String(version)])
  return folder
}

function withLongNames(folder: string, version: number): string {
  const long = `${'x'.repeat(200)}/`.repeat(20)
  const ends = [1, 74, 75, 76, 500].map((length) => long + 'y'.repeat(length))
  fillIndex(started(folder), ['a', ...ends, 'z'])
  git(folder, ['update-index', '--index-version', String(version)])
  return folder
}

function split(folder: string): string {
  started(folder, FILES)
  commit(folder, FILES)
  git(folder, ['update-index', '--split-index'])
  git(folder, ['rm', '-q', '--cached', 'a.txt'])
  write(folder, { 'a/added': '1' })
  git(folder, ['add', 'a/added'])
  return folder
}

function sparse(folder: string): string {
  commit(folder, { top: '1', 'in/a': '1', 'out/b': '1', 'out/deep/c': '1', 'over/d': '1' })
  git(folder, ['sparse-checkout', 'init', '--cone', '--sparse-index'])
  git(folder, ['sparse-checkout', 'set', 'in'])
  return folder
}

function superproject(folder: string): void {
  commit(started(join(folder, 'library')), { 'lib.c': '1' })
  commit(started(join(folder, 'super')), { 'main.c': '1' })
  git(join(folder, 'super'), ['submodule', 'add', '-q', '../library', 'nested/sub'])
  commit(join(folder, 'super'), {})
}

function renamed(folder: string): string {
  const target = `${folder}/${NOT_UTF8}`
  renameSync(join(folder, 'plain'), fsPath(target))
  symlinkSync(fsPath(NOT_UTF8), join(folder, 'plain'))
  return target
}
