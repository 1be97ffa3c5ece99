// Whether a project's folder is still there. Absence alone proves nothing: a disk may not be mounted.
import { lstatSync, readdirSync, statSync } from 'node:fs'
import { type BytePath, fsPath, hasCode } from '../../model/index.js'

export type ProjectState = 'live' | 'orphan' | 'unreachable'
const GONE = ['ENOENT', 'ENOTDIR'] as const
/** Something is there, or may be: rights, a link in a circle, a disk or a machine that does not answer. */
const CLOSED = [
  'EACCES',
  'EPERM',
  'ELOOP',
  'EIO',
  'ENODEV',
  'ENXIO',
  'ENOTCONN',
  'ESTALE',
  'ETIMEDOUT',
  'EHOSTDOWN',
  'EHOSTUNREACH',
  'ENETDOWN',
  'ENETUNREACH',
  'ECONNREFUSED',
  'EREMOTEIO',
]
const UNREADABLE = [...GONE, ...CLOSED]
type Parent = { readonly parentDev: string; readonly parentIno: string }

export function parentIdentity(path: BytePath): Parent {
  const { dev, ino } = statSync(fsPath(above(path)), { bigint: true })
  return { parentDev: String(dev), parentIno: String(ino) }
}

export function projectStateOf(path: BytePath, recorded: Parent): ProjectState {
  return projectFolder(path, recorded).state
}

/**
 * `orphan` only on proof: the very folder it was in is there, has something in it, and the project is not.
 * `unreachable` says what the proof lacks.
 */
export function projectFolder(
  path: BytePath,
  recorded: Parent,
): { readonly state: ProjectState; readonly unreachable: string | null } {
  if (isFolder(path)) return { state: 'live', unreachable: null }
  const unreachable = lackOfProof(path, recorded)
  return { state: unreachable === null ? 'orphan' : 'unreachable', unreachable }
}

function lackOfProof(path: BytePath, recorded: Parent): string | null {
  const inPlace = lackOfAbsence(path)
  if (inPlace !== null) return inPlace
  const parent = above(path)
  if (!isFolder(parent)) return 'its parent folder cannot be reached either'
  try {
    const { parentDev, parentIno } = parentIdentity(path)
    if (parentDev !== recorded.parentDev || parentIno !== recorded.parentIno)
      return 'its parent folder is not the same one as before'
    if (readdirSync(fsPath(parent)).length === 0)
      return 'its parent folder is empty, like that of a disk that is not mounted'
    return null
  } catch (error) {
    if (hasCode(error, ...UNREADABLE)) return 'its parent folder cannot be read'
    throw error
  }
}

/** What may be behind a link or a mount that answers nothing is not gone. */
function lackOfAbsence(path: BytePath): string | null {
  try {
    const isLink = lstatSync(fsPath(path), { throwIfNoEntry: false })?.isSymbolicLink() === true
    return isLink ? 'a link that leads to no folder is in its place' : null
  } catch (error) {
    if (hasCode(error, ...GONE)) return null
    if (hasCode(error, ...CLOSED)) return 'what is in its place cannot be accessed'
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
    if (hasCode(error, ...UNREADABLE)) return false
    throw error
  }
}
