// Reads the paths that a repository tracks from its index. We decode the index ourselves, because starting git costs more
// (git-index.test.ts compares), and run git only for formats that we cannot decode exactly.

import { hash } from 'node:crypto'
import { statSync } from 'node:fs'
import { ifExists } from '../../base/index.js'
import { type BytePath, fsPath, parentOf } from '../../model/index.js'
import { IndexUnsupported, parseIndexNames, readObjectFormat } from './index-format.js'
import { listNamesWithGit, MAX_INDEX_BYTES } from './list-with-git.js'
import { readRegularFile } from './regular-file.js'
import type { Repository } from './repository.js'

export type TrackedPaths = {
  /** A tracked file, or anything inside a folder tracked as a whole. */
  has(path: BytePath): boolean
  /** Some tracked path lies inside this folder. */
  hasInside(folder: BytePath): boolean
  /** A folder tracked as a whole counts as one. */
  readonly count: number
  /** Equal exactly for equal lists of paths. */
  readonly digest: string
}

export function trackedPaths(repository: Repository): TrackedPaths {
  try {
    return readTrackedPaths(repository)
  } catch (error) {
    if (error instanceof IndexUnsupported) return newTrackedPaths(listNamesWithGit(repository))
    throw error
  }
}

/** Empty if there is no index yet. Throws IndexUnsupported if only git can decode it. */
export function readTrackedPaths(repository: Repository): TrackedPaths {
  const bytes = readRegularFile(`${repository.gitDir}/index`, MAX_INDEX_BYTES)
  if (bytes === 'absent') return newTrackedPaths([])
  if (bytes === 'unfit') throw new IndexUnsupported('not a regular file')
  return newTrackedPaths(parseIndexNames(bytes, readObjectFormat(repository)))
}

/** Changes whenever the index does: git replaces the file and never writes into it. */
export function indexStamp(repository: Repository): string {
  const path = fsPath(`${repository.gitDir}/index`)
  const stats = ifExists(() => statSync(path, { bigint: true }))
  if (stats === undefined) return 'absent'
  return [stats.size, stats.mtimeNs, stats.ctimeNs, stats.ino].join('-')
}

/** `names`: ascending and unique; a folder tracked as a whole ends with a slash, as in a sparse index. */
export function newTrackedPaths(names: readonly BytePath[]): TrackedPaths {
  // Each costs about as much as reading the names, and not every caller needs both.
  const lookup = once(() => buildLookup(names))
  const digest = once(() => hash('sha256', names.join('\0')))
  return {
    has: (path) => lookup().files.has(path) || isInWholeFolder(lookup(), path),
    hasInside: (folder) => {
      if (folder === '') return names.length > 0
      return hasPrefix(names, `${folder}/`) || isInWholeFolder(lookup(), folder)
    },
    count: names.length,
    get digest() {
      return digest()
    },
  }
}

type Lookup = { readonly files: ReadonlySet<string>; readonly wholeFolders: ReadonlySet<string> }

function buildLookup(names: readonly BytePath[]): Lookup {
  const wholeFolders = names.filter((name) => name.endsWith('/'))
  const files = wholeFolders.length === 0 ? names : names.filter((name) => !name.endsWith('/'))
  return {
    files: new Set(files),
    wholeFolders: new Set(wholeFolders.map((name) => name.slice(0, -1))),
  }
}

function isInWholeFolder({ wholeFolders }: Lookup, path: BytePath): boolean {
  if (wholeFolders.size === 0) return false
  for (let folder = parentOf(path); folder !== ''; folder = parentOf(folder)) {
    if (wholeFolders.has(folder)) return true
  }
  return false
}

function hasPrefix(names: readonly string[], prefix: string): boolean {
  let low = 0
  let high = names.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((names[middle] ?? '') < prefix) low = middle + 1
    else high = middle
  }
  return names[low]?.startsWith(prefix) ?? false
}

function once<T>(compute: () => T): () => T {
  let known: { readonly value: T } | undefined
  return () => {
    known ??= { value: compute() }
    return known.value
  }
}
