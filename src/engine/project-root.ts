// Which folder is the project: the nearest one at or above that is known, or that looks like a project.
import { existsSync, realpathSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import {
  type BytePath,
  bytePath,
  bytePathOf,
  hasCode,
  pathText,
  SavestateError,
} from '../model/index.js'

const MARKERS = [
  '.git',
  'pyproject.toml',
  'package.json',
  'Cargo.toml',
  'go.mod',
  'Makefile',
  'pom.xml',
  '.hg',
  'Gemfile',
]

/** The real path of a folder. */
export function realFolder(path: string): BytePath {
  try {
    if (statSync(path).isDirectory()) return bytePathOf(realpathSync.native(path, 'buffer'))
  } catch (error) {
    if (!hasCode(error, 'ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP', 'ENAMETOOLONG')) throw error
  }
  throw new SavestateError('PROJECT_MISSING', `There is no folder ${JSON.stringify(path)}`, {
    hint: 'Name an existing folder with -C.',
  })
}

/** For a file or folder: the root of the project it belongs to, never one that is refused (home, `/tmp`, …). */
export function findProjectRoot(
  path: string,
  is: {
    readonly known: (path: BytePath) => boolean
    readonly refused: (path: BytePath) => boolean
  },
): BytePath {
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
  const start = pathText(realFolder(isFolder ? path : dirname(path)))
  for (let folder = start; folder !== dirname(folder); folder = dirname(folder)) {
    const candidate = bytePath(folder)
    if (is.refused(candidate)) continue
    if (is.known(candidate) || MARKERS.some((name) => existsSync(join(folder, name))))
      return candidate
  }
  return realFolder(start)
}
