// Whether a project's folder is still there. Absence alone proves nothing: a disk may not be mounted.
import { readdirSync, statSync } from 'node:fs'
import { type BytePath, fsPath, hasCode } from '../model/index.js'

export type ProjectState = 'live' | 'orphan' | 'unreachable'
type Parent = { readonly parentDev: string; readonly parentIno: string }

export function parentIdentity(path: BytePath): Parent {
  const { dev, ino } = statSync(fsPath(above(path)), { bigint: true })
  return { parentDev: String(dev), parentIno: String(ino) }
}

/** `orphan` only on proof: the very folder it was in is there, has something in it, and the project is not. */
export function projectStateOf(path: BytePath, recorded: Parent): ProjectState {
  if (isFolder(path)) return 'live'
  const parent = above(path)
  if (!isFolder(parent)) return 'unreachable'
  const now = parentIdentity(path)
  const isSame = now.parentDev === recorded.parentDev && now.parentIno === recorded.parentIno
  return isSame && readdirSync(fsPath(parent)).length > 0 ? 'orphan' : 'unreachable'
}

function above(path: BytePath): string {
  return path.slice(0, path.lastIndexOf('/')) || '/'
}

function isFolder(path: string): boolean {
  try {
    return statSync(fsPath(path)).isDirectory()
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'EACCES', 'EIO', 'ENOTCONN', 'ESTALE')) return false
    throw error
  }
}
