// Finds out whether a project's folder still exists. A missing folder alone proves nothing: its disk may not be mounted.
import { lstatSync, readdirSync, statSync } from 'node:fs'
import { type BytePath, fsPath, hasCode, isError } from '../../model/index.js'

export type ProjectState = 'live' | 'orphan' | 'unreachable'
type Parent = { readonly parentDev: string; readonly parentIno: string }

export function readParentIdentity(path: BytePath): Parent {
  const { dev, ino } = statSync(fsPath(above(path)), { bigint: true })
  return { parentDev: String(dev), parentIno: String(ino) }
}

export function readProjectState(path: BytePath, recorded: Parent): ProjectState {
  return projectFolder(path, recorded).state
}

/**
 * Returns `orphan` only with proof: the recorded parent folder exists and is not empty, and the project is missing in it.
 * `unreachable` says why there is no proof.
 */
export function projectFolder(
  path: BytePath,
  recorded: Parent,
): { readonly state: ProjectState; readonly unreachable: string | null } {
  if (isFolder(path)) return { state: 'live', unreachable: null }
  const unreachable = explainUnreachable(path, recorded)
  return { state: unreachable === null ? 'orphan' : 'unreachable', unreachable }
}

function explainUnreachable(path: BytePath, recorded: Parent): string | null {
  const obstacle = findObstacle(path)
  if (obstacle !== null) return obstacle
  const parent = above(path)
  if (!isFolder(parent)) return 'its parent folder cannot be reached either'
  try {
    const { parentDev, parentIno } = readParentIdentity(path)
    if (parentDev !== recorded.parentDev || parentIno !== recorded.parentIno)
      return 'its parent folder is not the same one as before'
    if (readdirSync(fsPath(parent)).length === 0)
      return 'its parent folder is empty, like that of a disk that is not mounted'
    return null
  } catch (error) {
    if (isSystemError(error)) return 'its parent folder cannot be read'
    throw error
  }
}

/** The project may still exist behind a dangling link or a mount that does not respond. */
function findObstacle(path: BytePath): string | null {
  try {
    const isLink = lstatSync(fsPath(path), { throwIfNoEntry: false })?.isSymbolicLink() === true
    return isLink ? 'its path is a link that leads to no folder' : null
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return null
    if (isSystemError(error)) return 'its path cannot be accessed'
    throw error
  }
}

function above(path: BytePath): string {
  return path.slice(0, path.lastIndexOf('/')) || '/'
}

function isFolder(path: string): boolean {
  try {
    return statSync(fsPath(path)).isDirectory()
  } catch (error) {
    if (isSystemError(error)) return false
    throw error
  }
}

/** Missing permissions, a symlink loop, a disk or host that does not respond, … */
function isSystemError(error: unknown): boolean {
  return isError(error) && 'syscall' in error
}
