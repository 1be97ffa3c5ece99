// What a repository tracks, from its index: decoded here, since starting git costs more than
// decoding (git-index.test.ts compares), and by git where that can't be done exactly.

import { statSync } from 'node:fs'
import { ifExists } from '../../base/index.js'
import { fsPath } from '../../model/index.js'
import { IndexUnsupported, parseIndexNames } from './index-format.js'
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
  const bytes = readRegularFile(`${repository.gitDir}/index`, MAX_INDEX_BYTES)
  if (bytes === 'absent') return trackedPathsOf([])
  if (bytes === 'unfit') throw new IndexUnsupported('no regular file')
  return trackedPathsOf(parseIndexNames(bytes, objectFormatOf(repository)))
}

/** Changes whenever the index does: git replaces the file, it never writes into it. */
export function indexStamp(repository: Repository): string {
  const path = fsPath(`${repository.gitDir}/index`)
  const stats = ifExists(() => statSync(path, { bigint: true }))
  if (stats === undefined) return 'absent'
  return [stats.size, stats.mtimeNs, stats.ctimeNs, stats.ino].join('-')
}
