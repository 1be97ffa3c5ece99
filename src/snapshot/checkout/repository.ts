// Finds the user's git repositories and their HEAD by reading files: starting git would cost more than the rest of a save.
// It never writes to a repository, runs programs that it configures, or reads the environment (GIT_DIR and the like).

import { lstatSync, readlinkSync, realpathSync, statSync } from 'node:fs'
import { ifExists } from '../../base/index.js'
import { type BytePath, fsPath, joinPath, pathText, ROOT } from '../../model/index.js'
import { readRegularFile } from './regular-file.js'

/** Absolute paths, one character per byte. `gitDir` and `commonDir` differ in a linked worktree. */
export type Repository = {
  readonly worktree: string
  readonly gitDir: string
  readonly commonDir: string
}

export type Head = {
  /** Null on an unborn branch, and for refs in a format that we do not read (reftable). */
  readonly commit: string | null
  /** As text (see `pathText`), without `refs/heads/`; null if HEAD is not on a branch. */
  readonly branch: string | null
}

// The kernel's longest path, plus the text that git writes around it.
const MAX_POINTER_BYTES = 4096 + 64
const MAX_PACKED_REFS_BYTES = 512 * 1024 * 1024
// Git's own limit.
const MAX_SYMBOLIC_REFS = 5

/** The repository whose worktree is exactly this folder. Throws if it is not accessible. */
export function openRepository(folder: string): Repository | undefined {
  const dotGit = inFolder(folder, '.git')
  const stats = ifExists(() => statSync(fsPath(dotGit), { throwIfNoEntry: false }), 'ELOOP')
  if (stats === undefined) return undefined
  const gitDir = stats.isDirectory() ? dotGit : followPointer(dotGit, /^gitdir: ([^]+)$/, folder)
  if (gitDir === undefined || !hasHead(gitDir)) return undefined
  const commonDir = commonDirOf(gitDir)
  return commonDir === undefined ? undefined : { worktree: folder, gitDir, commonDir }
}

/** The nearest repository at or above the folder, and the folder's path in its worktree. */
export function enclosingRepository(
  folder: string,
): { readonly repository: Repository; readonly prefix: BytePath } | undefined {
  for (
    let candidate = folder;
    ;
    candidate = candidate.slice(0, candidate.lastIndexOf('/')) || '/'
  ) {
    const repository = openRepository(candidate)
    if (repository !== undefined) return { repository, prefix: below(candidate, folder) }
    if (candidate === '/') return undefined
  }
}

export function headOf(repository: Repository): Head {
  return follow(repository, 'HEAD')
}

/** Null for a missing ref, or one without a commit. */
export function refCommit(repository: Repository, name: string): string | null {
  return isRefName(name) ? follow(repository, name).commit : null
}

/** The names of packed refs that start with `prefix`. */
export function packedNames({ commonDir }: Repository, prefix: string): string[] {
  const bytes = readRegularFile(inFolder(commonDir, 'packed-refs'), MAX_PACKED_REFS_BYTES)
  if (typeof bytes === 'string') return []
  const lines = bytes.toString('latin1').split('\n')
  return lines
    .flatMap((line) => /^[0-9a-f]{40,64} (refs\/.+)$/.exec(line)?.[1] ?? [])
    .filter((name) => name.startsWith(prefix))
}

function follow(repository: Repository, start: string): Head {
  let name = start
  for (let followed = 0; followed <= MAX_SYMBOLIC_REFS; followed++) {
    const ref = readLooseRef(inFolder(folderOfRef(repository, name), name))
    if (ref?.type !== 'symbolic') {
      const commit = ref === undefined ? packedCommit(repository, name) : ref.commit
      return { commit, branch: branchOf(name) }
    }
    // A reftable repository has `refs/heads/.invalid` in HEAD, which is not a valid ref name.
    if (!isRefName(ref.target)) break
    name = ref.target
  }
  return { commit: null, branch: null }
}

export function excludeFileOf(repository: Repository): string {
  return inFolder(repository.commonDir, 'info/exclude')
}

function inFolder(folder: string, name: string): string {
  return folder.endsWith('/') ? folder + name : `${folder}/${name}`
}

function below(folder: string, path: string): BytePath {
  return joinPath(ROOT, path.slice(inFolder(folder, '').length))
}

function hasHead(gitDir: string): boolean {
  const stats = ifExists(() => lstatSync(fsPath(inFolder(gitDir, 'HEAD'))))
  // In old repositories HEAD is a symbolic link, which dangles while the branch is unborn.
  return stats !== undefined && (stats.isFile() || stats.isSymbolicLink())
}

function commonDirOf(gitDir: string): string | undefined {
  const pointer = inFolder(gitDir, 'commondir')
  const stats = ifExists(() => lstatSync(fsPath(pointer)))
  return stats === undefined ? gitDir : followPointer(pointer, /^([^]+)$/, gitDir)
}

/**
 * Resolves the path in a file, relative to `base`. Returns the real path, because `..` after a symbolic link differs from
 * its text.
 */
function followPointer(file: string, pattern: RegExp, base: string): string | undefined {
  const bytes = readRegularFile(file, MAX_POINTER_BYTES)
  if (typeof bytes === 'string') return undefined
  const target = pattern.exec(bytes.toString('latin1').replace(/[\r\n]+$/, ''))?.[1]
  if (target === undefined || target.includes('\0')) return undefined
  const path = target.startsWith('/') ? target : inFolder(base, target)
  return ifExists(() => realpathSync.native(fsPath(path), 'latin1'), 'ELOOP', 'ENAMETOOLONG')
}

type LooseRef =
  | { readonly type: 'symbolic'; readonly target: string }
  | { readonly type: 'direct'; readonly commit: string | null }

function readLooseRef(path: string): LooseRef | undefined {
  const stats = ifExists(() => lstatSync(fsPath(path)), 'ENAMETOOLONG')
  // A folder: left over from a branch `a/b`, while the branch `a` is packed.
  if (stats === undefined || stats.isDirectory()) return undefined
  if (stats.isSymbolicLink()) {
    const target = readlinkSync(fsPath(path), 'latin1')
    if (target.startsWith('refs/')) return { type: 'symbolic', target }
  }
  const bytes = readRegularFile(path, MAX_POINTER_BYTES)
  if (bytes === 'absent') return undefined
  const text = bytes === 'unfit' ? '' : bytes.toString('latin1')
  // Not \s, which matches the byte A0, the last byte of many UTF-8 letters.
  const target = /^ref:[ \t\r\n]*([^ \t\r\n]+)[ \t\r\n]*$/.exec(text)?.[1]
  if (target !== undefined) return { type: 'symbolic', target }
  return {
    type: 'direct',
    commit: /^([0-9a-f]{40}|[0-9a-f]{64})(?=[ \t\r\n]|$)/.exec(text)?.[0] ?? null,
  }
}

function packedCommit({ commonDir }: Repository, name: string): string | null {
  const bytes = readRegularFile(inFolder(commonDir, 'packed-refs'), MAX_PACKED_REFS_BYTES)
  if (typeof bytes === 'string') return null
  const end = bytes.indexOf(` ${name}\n`, 0, 'latin1')
  if (end === -1) return null
  const start = end === 0 ? 0 : bytes.lastIndexOf('\n', end - 1) + 1
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.exec(bytes.toString('latin1', start, end))?.[0] ?? null
}

function folderOfRef({ gitDir, commonDir }: Repository, name: string): string {
  return /^refs\/(?!bisect\/|worktree\/|rewritten\/)/.test(name) ? commonDir : gitDir
}

// Rejects the names that git forbids and that could lead out of the refs folder.
function isRefName(name: string): boolean {
  return /^refs\/[^\0-\x20\x7f~^:?*[\\]+$/.test(name) && !/\.\.|\/\.|\/\/|\/$/.test(name)
}

function branchOf(name: string): string | null {
  return name.startsWith('refs/heads/')
    ? pathText(joinPath(ROOT, name.slice('refs/heads/'.length)))
    : null
}
