// Finds the root of the project of a path. A repository is a project, and so is a folder that was saved before. A package
// inside a saved project belongs to that project if it captures the package; an ignored repository is its own project.
import { existsSync, realpathSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import {
  type BytePath,
  bytePathFromBytes,
  fsPath,
  hasCode,
  parentOf,
  SavestateError,
} from '../../model/index.js'

const REPOSITORIES = ['.git', '.hg']
/** A folder with one of these is a project unless a known project contains it. */
const MANIFESTS = [
  'pyproject.toml',
  'package.json',
  'Cargo.toml',
  'go.mod',
  'Makefile',
  'pom.xml',
  'Gemfile',
]

const MAX_SHOWN = 300
/** The path does not exist, is not accessible, or is not a valid path. */
const NO_FOLDER = [
  'ENOENT',
  'ENOTDIR',
  'EACCES',
  'ELOOP',
  'ENAMETOOLONG',
  'ERR_INVALID_ARG_VALUE',
] as const

/** The real path of a folder. */
export function resolveFolder(path: string): BytePath {
  if (isExistingFolder(path)) return expectBytes(realpathSync.native(path, 'buffer'))
  const shown = JSON.stringify(path.slice(0, MAX_SHOWN))
  throw new SavestateError('PROJECT_MISSING', `There is no folder ${shown}`, {
    hint: 'Name an existing folder with -C.',
  })
}

/** Refuses a patched node:fs that returns text instead of bytes: it would corrupt file names everywhere. */
function expectBytes(path: unknown): BytePath {
  if (Buffer.isBuffer(path)) return bytePathFromBytes(path)
  throw new SavestateError(
    'FILE_FAILED',
    'The file functions of Node were replaced in this process by ones that lose bytes of file names',
    {
      hint: 'Yarn Plug’n’Play does that: set `nodeLinker: node-modules` in .yarnrc.yml, or install savestate with npm.',
    },
  )
}

export function isExistingFolder(path: string): boolean {
  if (typeof path !== 'string')
    throw new SavestateError('BAD_INPUT', `A path must be a string, not ${typeof path}`)
  try {
    return statSync(path).isDirectory()
  } catch (error) {
    if (hasCode(error, ...NO_FOLDER)) return false
    throw error
  }
}

type ProjectRules = {
  readonly known: (path: BytePath) => boolean
  readonly refused: (path: BytePath) => boolean
  /** Whether the project excludes a folder inside it. */
  readonly excludes: (project: BytePath, folder: BytePath) => boolean
}

export type FoundRoot = {
  readonly root: BytePath
  /** A folder between the path and `root` that resembles a project and is saved as part of `root`. */
  readonly part?: BytePath | undefined
}

/** Returns the root of the project that a file or folder belongs to, never a refused one (home, `/tmp`, …). */
export function findProjectRoot(path: string, is: ProjectRules): FoundRoot {
  const start = resolveFolder(isExistingFolder(path) ? path : dirname(path))
  let part: BytePath | undefined
  for (let candidate = start; !isRoot(candidate); candidate = parentOf(candidate)) {
    if (is.refused(candidate)) continue
    if (is.known(candidate))
      return part !== undefined && is.excludes(candidate, part)
        ? { root: part }
        : { root: candidate, part }
    if (hasAny(candidate, REPOSITORIES)) return { root: part ?? candidate }
    if (part === undefined && hasAny(candidate, MANIFESTS)) part = candidate
  }
  return { root: part ?? start }
}

function isRoot(path: BytePath): boolean {
  return path === '' || path === '/'
}

/**
 * Returns the project of a folder inside a project: the project itself, or the outermost repository on the path that the
 * project excludes (searched again inside that repository). The folder need not exist.
 */
export function findProjectWithin(
  root: BytePath,
  folder: BytePath,
  excludes: ProjectRules['excludes'],
): BytePath {
  const names = folder
    .slice(root.length)
    .split('/')
    .filter((name) => name !== '')
  let at: string = root
  for (const name of names) {
    at = `${at}/${name}`
    const candidate = at as BytePath
    if (hasAny(candidate, REPOSITORIES) && excludes(root, candidate))
      return findProjectWithin(candidate, folder, excludes)
  }
  return root
}

/** Returns the nearest known project above a folder, if it captures the folder too. */
export function findEnclosing(
  path: BytePath,
  { known, excludes }: Omit<ProjectRules, 'refused'>,
): BytePath | undefined {
  for (let above = parentOf(path); above !== ''; above = parentOf(above))
    if (known(above)) return excludes(above, path) ? undefined : above
  return undefined
}

function hasAny(folder: BytePath, names: readonly string[]): boolean {
  return names.some((name) => existsSync(fsPath(`${folder}/${name}`)))
}
