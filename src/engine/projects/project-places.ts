// Which project of the store a folder belongs to, with the rules of the projects that it may lie in.
import { basename, dirname, isAbsolute, normalize } from 'node:path'
import {
  type BytePath,
  bytePath,
  isInside,
  joinPath,
  nameOf,
  parentOf,
  pathText,
} from '../../model/index.js'
import { excludedFolder, isUnsafeFolder } from '../../snapshot/index.js'
import { knownProject, type ProjectContext, type StoreContext } from '../operation/context.js'
import {
  findEnclosing,
  findProjectRoot,
  findProjectWithin,
  type FoundRoot,
  isExistingFolder,
  realFolder,
} from './project-root.js'
import { projectStateOf } from './project-state.js'
import { limitsOf } from '../store/settings.js'

export function projectRootOf(context: StoreContext, path: string): FoundRoot {
  return findProjectRoot(path, rulesOf(context))
}

/** The real path of a folder, also of one that no longer exists if there is a project. Throws PROJECT_MISSING. */
export function projectFolder({ ledger }: StoreContext, path: string): BytePath {
  const missing = missingFolder(path)
  return missing !== undefined && ledger.projectAt(missing) !== undefined
    ? missing
    : realFolder(path)
}

/** The path at which a project may have been known that is no folder any more. */
export function missingFolder(path: string): BytePath | undefined {
  if (isExistingFolder(path) || path === '' || path.includes('\0')) return undefined
  const above = dirname(path)
  if (isExistingFolder(above)) return joinPath(realFolder(above), bytePath(basename(path)))
  return isAbsolute(path) ? bytePath(normalize(path)) : undefined
}

export type LocatedFolder = {
  /** The project that saves the folder. */
  readonly root: string
  /** The folder of that project, relative to it, that it leaves out and in which this one lies; null if it saves it. */
  readonly excluded: string | null
}

/** Locates a folder inside a project by its absolute path. The folder need not exist any more. */
export function locateFolder(context: ProjectContext, folder: string): LocatedFolder {
  const { path: outer } = context
  const path = bytePath(folder)
  if (!isInside(path, outer)) return { root: pathText(outer), excluded: null }
  const inner = findProjectWithin(outer, path, rulesOf(context).excludes)
  const excluded = excludedIn(context, inner, path)
  return { root: pathText(inner), excluded: excluded === undefined ? null : pathText(excluded) }
}

function rulesOf(context: StoreContext) {
  const { home, ledger } = context
  return {
    known: (path: BytePath) => ledger.projectAt(path) !== undefined,
    refused: (path: BytePath) => isUnsafeFolder(path, bytePath(home)),
    excludes: (root: BytePath, folder: BytePath) => excludedIn(context, root, folder) !== undefined,
  }
}

function excludedIn(
  { home }: StoreContext,
  root: BytePath,
  folder: BytePath,
): BytePath | undefined {
  const site = { root, home: bytePath(home), limits: limitsOf(home, root) }
  return excludedFolder(site, folder.slice(root.length + 1) as BytePath)
}

export type ProjectOrigin = {
  /** The project above that saves this folder too. */
  readonly partOf: string | null
  /** Projects whose folders are gone, with the same name or in the same folder. */
  readonly maybeMovedFrom: readonly string[]
}

const OWN: ProjectOrigin = { partOf: null, maybeMovedFrom: [] }

/** Where the checkpoints of a folder may be if it has none of its own. */
export function projectOrigin(context: ProjectContext): ProjectOrigin {
  const { ledger, path } = context
  const known = knownProject(context)
  if (known !== undefined && ledger.checkpoints.count({ project: known.id }) > 0) return OWN
  const partOf = findEnclosing(path, rulesOf(context))
  const gone = ledger
    .projects()
    .filter(({ project, checkpoints }) => checkpoints > 0 && isAlike(project.path, path))
    .filter((summary) => projectStateOf(summary.project.path, summary) !== 'live')
  return {
    partOf: partOf === undefined ? null : pathText(partOf),
    maybeMovedFrom: gone.map(({ project }) => pathText(project.path)),
  }
}

function isAlike(one: BytePath, other: BytePath): boolean {
  return one !== other && (nameOf(one) === nameOf(other) || parentOf(one) === parentOf(other))
}
