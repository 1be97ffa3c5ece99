// What a repository tracks, from its index: decoded here, since starting git costs more than
// decoding (git-index.test.ts compares), and by git where that can't be done exactly.

import { statSync } from 'node:fs'
import { ifExists } from '../../base/index.js'
import { fsPath } from '../../model/index.js'
import { type IndexEntries, IndexUnsupported, parseIndexEntries } from './index-format.js'
import { listTrackedWithGit, MAX_INDEX_BYTES } from './list-with-git.js'
import { objectFormatOf } from './object-format.js'
import { readRegularFile } from './regular-file.js'
import type { Repository } from './repository.js'
import { type TrackedPaths, trackedPathsOf } from './tracked-paths.js'

export { IndexUnsupported, listTrackedWithGit, type TrackedPaths }

export function trackedPaths(repository: Repository): TrackedPaths {
  try {
    return readTrackedPaths(repository)
  } catch (error) {
    if (error instanceof IndexUnsupported) return listTrackedWithGit(repository)
    throw error
  }
}

/** Empty when there is no index yet. Throws IndexUnsupported when only git can tell. */
export function readTrackedPaths(repository: Repository): TrackedPaths {
  return trackedPathsOf(readIndex(repository)?.names ?? [])
}

export type ReadIndex = IndexEntries & {
  readonly bytes: Buffer
  /** Of the ids in it. */
  readonly format: string
  /** Of the file when it was about to be read. */
  readonly stamp: string
}

/** A first save asks twice, and decoding takes long. */
const read = new WeakMap<Repository, ReadIndex>()

/** Undefined when there is no index yet. Throws IndexUnsupported. */
export function readIndex(repository: Repository): ReadIndex | undefined {
  const stamp = indexStamp(repository)
  const known = read.get(repository)
  if (known?.stamp === stamp) return known
  const bytes = readRegularFile(`${repository.gitDir}/index`, MAX_INDEX_BYTES)
  if (bytes === 'absent') return undefined
  if (bytes === 'unfit') throw new IndexUnsupported('no regular file')
  const format = objectFormatOf(repository)
  const index = { ...parseIndexEntries(bytes, format), format, bytes, stamp }
  read.set(repository, index)
  return index
}

/** Changes whenever the index does: git replaces the file, it never writes into it. */
export function indexStamp(repository: Repository): string {
  const path = fsPath(`${repository.gitDir}/index`)
  const stats = ifExists(() => statSync(path, { bigint: true }))
  if (stats === undefined) return 'absent'
  return [stats.size, stats.mtimeNs, stats.ctimeNs, stats.ino].join('-')
}
