// Finds the project that a path belongs to. A repository is a project, and so is a folder that was saved before. A package
// inside a saved project belongs to that project if it captures the package; an ignored repository is its own project.
import { existsSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, isAbsolute, normalize } from 'node:path'
import {
  type BytePath,
  bytePath,
  bytePathFromBytes,
  fsPath,
  hasCode,
  isInside,
  joinPath,
  nameOf,
  parentOf,
  pathText,
  SavestateError,
} from '../../model/index.js'
import { excludedFolder, isUnsafeFolder } from '../../snapshot/index.js'
import { findKnownProject, type ProjectContext, type StoreContext } from '../operation/context.js'
import { limitsOf } from '../store/settings.js'
import { readProjectState } from './project-state.js'

export function resolveProjectRoot(context: StoreContext, path: string): FoundRoot {
  return findProjectRoot(path, makeProjectRules(context))
}

/** Returns the real path of a folder, or of the missing folder of a known project. Throws PROJECT_MISSING. */
export function projectFolder({ ledger }: StoreContext, path: string): BytePath {
  const missing = resolveMissingFolder(path)
  return missing !== undefined && ledger.projectAt(missing) !== undefined
    ? missing
    : resolveFolder(path)
}

/** The absolute path of a folder that no longer exists; undefined if it exists or the path cannot be completed. */
export function resolveMissingFolder(path: string): BytePath | undefined {
  if (isExistingFolder(path) || path === '' || path.includes('\0')) return undefined
  const above = dirname(path)
  if (isExistingFolder(above)) return joinPath(resolveFolder(above), bytePath(basename(path)))
  return isAbsolute(path) ? bytePath(normalize(path)) : undefined
}

export type LocatedFolder = {
  /** The project that saves the folder. */
  readonly root: string
  /** The excluded folder of that project that contains this one, relative to the project; null if this one is saved. */
  readonly excluded: string | null
}

/** Locates a folder inside a project by its absolute path. The folder need not exist. */
export function locateFolder(context: ProjectContext, folder: string): LocatedFolder {
  const { path: outer } = context
  const path = bytePath(folder)
  if (!isInside(path, outer)) return { root: pathText(outer), excluded: null }
  const inner = findProjectWithin(outer, path, makeProjectRules(context).excludes)
  const excluded = findExcluded(context, inner, path)
  return { root: pathText(inner), excluded: excluded === undefined ? null : pathText(excluded) }
}

function makeProjectRules(context: StoreContext): ProjectRules {
  const { home, ledger } = context
  return {
    known: (path) => ledger.projectAt(path) !== undefined,
    refused: (path) => isUnsafeFolder(path, bytePath(home)),
    excludes: (root, folder) => findExcluded(context, root, folder) !== undefined,
  }
}

function findExcluded(
  { home }: StoreContext,
  root: BytePath,
  folder: BytePath,
): BytePath | undefined {
  const target = { root, home: bytePath(home), limits: limitsOf(home, root) }
  return excludedFolder(target, folder.slice(root.length + 1) as BytePath)
}

export type ProjectOrigin = {
  /** The parent project that saves this folder too. */
  readonly partOf: string | null
  /** Projects with a missing folder that has the same name or the same parent. */
  readonly maybeMovedFrom: readonly string[]
}

const OWN: ProjectOrigin = { partOf: null, maybeMovedFrom: [] }

/** Finds projects that may have the checkpoints of a folder that has none of its own. */
export function findProjectOrigin(context: ProjectContext): ProjectOrigin {
  const { ledger, path } = context
  const known = findKnownProject(context)
  if (known !== undefined && ledger.checkpoints.count({ project: known.id }) > 0) return OWN
  const partOf = findEnclosing(path, makeProjectRules(context))
  const gone = ledger
    .projects()
    .filter(({ project, checkpoints }) => checkpoints > 0 && isSimilar(project.path, path))
    .filter((summary) => readProjectState(summary.project.path, summary) !== 'live')
  return {
    partOf: partOf === undefined ? null : pathText(partOf),
    maybeMovedFrom: gone.map(({ project }) => pathText(project.path)),
  }
}

function isSimilar(one: BytePath, other: BytePath): boolean {
  return one !== other && (nameOf(one) === nameOf(other) || parentOf(one) === parentOf(other))
}

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
    hint: 'Name an existing folder.',
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

type FoundRoot = {
  readonly root: BytePath
  /** A folder between the path and `root` that resembles a project and is saved as part of `root`. */
  readonly part?: BytePath | undefined
}

/** Returns the root of the project that a file or folder belongs to, never a refused one (home, `/tmp`, …). */
function findProjectRoot(path: string, is: ProjectRules): FoundRoot {
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
function findProjectWithin(
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
function findEnclosing(
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
