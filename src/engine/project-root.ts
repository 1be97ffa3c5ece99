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

const MAX_SHOWN = 300
/** Of what is not there, cannot be reached, or is no path at all. */
const NO_FOLDER = [
  'ENOENT',
  'ENOTDIR',
  'EACCES',
  'ELOOP',
  'ENAMETOOLONG',
  'ERR_INVALID_ARG_VALUE',
] as const

/** The real path of a folder. */
export function realFolder(path: string): BytePath {
  if (isFolder(path)) return wholePath(realpathSync.native(path, 'buffer'))
  const shown = JSON.stringify(path.slice(0, MAX_SHOWN))
  throw new SavestateError('PROJECT_MISSING', `There is no folder ${shown}`, {
    hint: 'Name an existing folder with -C.',
  })
}

/** A node:fs that gives text where bytes are asked for would give half of some names everywhere else, too. */
function wholePath(path: unknown): BytePath {
  if (Buffer.isBuffer(path)) return bytePathOf(path)
  throw new SavestateError(
    'FILE_FAILED',
    'The file functions of Node were replaced in this process by ones that lose bytes of file names',
    {
      hint: 'Yarn Plug’n’Play does that: set `nodeLinker: node-modules` in .yarnrc.yml, or install savestate with npm.',
    },
  )
}

function isFolder(path: string): boolean {
  if (typeof path !== 'string')
    throw new SavestateError('BAD_INPUT', `A path must be a string, not ${typeof path}`)
  try {
    return statSync(path).isDirectory()
  } catch (error) {
    if (hasCode(error, ...NO_FOLDER)) return false
    throw error
  }
}

/** For a file or folder: the root of the project it belongs to, never one that is refused (home, `/tmp`, …). */
export function findProjectRoot(
  path: string,
  is: {
    readonly known: (path: BytePath) => boolean
    readonly refused: (path: BytePath) => boolean
  },
): BytePath {
  const start = pathText(realFolder(isFolder(path) ? path : dirname(path)))
  for (let folder = start; folder !== dirname(folder); folder = dirname(folder)) {
    const candidate = bytePath(folder)
    if (is.refused(candidate)) continue
    if (is.known(candidate) || MARKERS.some((name) => existsSync(join(folder, name))))
      return candidate
  }
  return realFolder(start)
}
