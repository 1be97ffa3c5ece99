// Which project of the store a folder belongs to, with the rules of the projects that it may lie in.
import { basename, dirname, isAbsolute, normalize } from 'node:path'
import { type BytePath, bytePath, isInside, joinPath, pathText } from '../model/index.js'
import { excludedFolder, isUnsafeFolder } from '../snapshot/index.js'
import type { ProjectContext, StoreContext } from './context.js'
import {
  findEnclosing,
  findProjectRoot,
  findProjectWithin,
  type FoundRoot,
  isExistingFolder,
  realFolder,
} from './project-root.js'
import { limitsOf } from './settings.js'

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

/** The nearest project above that is known and captures this folder too. */
export function enclosingProject(context: StoreContext, path: BytePath): BytePath | undefined {
  return findEnclosing(path, rulesOf(context))
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
