// Finds the project that a folder belongs to, by the ledger and by the ignore rules of the projects around it.
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
import { findKnownProject, type ProjectContext, type StoreContext } from '../operation/context.js'
import {
  findEnclosing,
  findProjectRoot,
  findProjectWithin,
  type FoundRoot,
  isExistingFolder,
  resolveFolder,
} from './project-root.js'
import { readProjectState } from './project-state.js'
import { limitsOf } from '../store/settings.js'

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

function makeProjectRules(context: StoreContext) {
  const { home, ledger } = context
  return {
    known: (path: BytePath) => ledger.projectAt(path) !== undefined,
    refused: (path: BytePath) => isUnsafeFolder(path, bytePath(home)),
    excludes: (root: BytePath, folder: BytePath) =>
      findExcluded(context, root, folder) !== undefined,
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
