// Reads the paths that a repository tracks from its index. We decode the index ourselves, because starting git costs more
// (git-index.test.ts compares), and run git only for formats that we cannot decode exactly.

import { statSync } from 'node:fs'
import { ifExists } from '../../base/index.js'
import { fsPath } from '../../model/index.js'
import { IndexUnsupported, parseIndexNames } from './index-format.js'
import { listTrackedWithGit, MAX_INDEX_BYTES } from './list-with-git.js'
import { readObjectFormat } from './object-format.js'
import { readRegularFile } from './regular-file.js'
import type { Repository } from './repository.js'
import { type TrackedPaths, newTrackedPaths } from './tracked-paths.js'

export { IndexUnsupported, listTrackedWithGit, type TrackedPaths }

export function trackedPaths(repository: Repository): TrackedPaths {
  try {
    return readTrackedPaths(repository)
  } catch (error) {
    if (error instanceof IndexUnsupported) return listTrackedWithGit(repository)
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
