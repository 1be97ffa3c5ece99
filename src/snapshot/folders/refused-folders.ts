// Folders that are never captured: they contain everything on the machine, or the store. They may also be mounted elsewhere, so
// their inodes are compared as well as their paths.
import { homedir, tmpdir } from 'node:os'
import { realpathSync, statSync } from 'node:fs'
import {
  type BytePath,
  bytePath,
  hasCode,
  isInside,
  parentOf,
  printablePath,
  SavestateError,
} from '../../model/index.js'
import { identityOf, isSameFolder } from './same-folder.js'
import { isSystemFolder } from './system-folder.js'

const ROOT_OF_DISK = '/' as BytePath
const SYSTEM = 'a system folder'

export function isUnsafeFolder(path: BytePath, home: BytePath): boolean {
  return whatItIs(path, home) !== undefined
}

/** Throws PROJECT_REFUSED if this real path must not become a project. */
export function refuseUnsafeFolder(path: BytePath, home: BytePath): void {
  const what = whatItIs(path, home)
  if (what === undefined) return
  throw new SavestateError(
    'PROJECT_REFUSED',
    `${printablePath(path)} is ${what}; it is never captured`,
    {
      hint:
        what === SYSTEM
          ? 'Go into a project folder, or name one with -C. If this is a project, create a .savestateignore file in it.'
          : 'Go into a project folder, or name one with -C.',
    },
  )
}

function whatItIs(path: BytePath, home: BytePath): string | undefined {
  const own = identityOf(path)
  const isAt = (other: BytePath) => path === other || isSameFolder(own, identityOf(other))
  if (isAt(ROOT_OF_DISK) || /^[A-Za-z]:[\\/]?$/.test(path)) return 'the root of a disk'
  const userHome = real(homedir())
  if (isAt(userHome)) return 'a home folder'
  if (isInside(userHome, path) || foldersAbove(userHome).some(isAt)) return 'above a home folder'
  if (['/tmp', '/var/tmp', '/private/tmp', tmpdir()].some((folder) => isAt(real(folder)))) {
    return 'the folder for temporary files'
  }
  if (isSystemFolder(path)) return SYSTEM
  const store = identityOf(home)
  const isInStore =
    isInside(path, home) ||
    [path, ...foldersAbove(path)].some((folder) => isSameFolder(identityOf(folder), store))
  return isInStore ? 'the store of Savestate' : undefined
}

/** Without the root of the disk. */
function foldersAbove(path: BytePath): readonly BytePath[] {
  const folders: BytePath[] = []
  for (let folder = parentOf(path); folder.length > 1; folder = parentOf(folder))
    folders.push(folder)
  return folders
}

function real(path: string): BytePath {
  try {
    // Not every system has each of them, and an exception costs more than this stat.
    if (statSync(path, { throwIfNoEntry: false }) === undefined) return bytePath(path)
    return bytePath(realpathSync.native(path))
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'EACCES', 'ENOTDIR')) return bytePath(path)
    throw error
  }
}
