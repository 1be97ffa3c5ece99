// Folders that are never captured: everything on the machine is inside them, or we are.
import { homedir, tmpdir } from 'node:os'
import { realpathSync, statSync } from 'node:fs'
import {
  type BytePath,
  bytePath,
  hasCode,
  isInside,
  printablePath,
  SavestateError,
} from '../model/index.js'

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
      hint: 'Go into a project folder, or name one with -C.',
    },
  )
}

function whatItIs(path: BytePath, home: BytePath): string | undefined {
  if (path === '/' || /^[A-Za-z]:[\\/]?$/.test(path)) return 'the root of a disk'
  const userHome = real(homedir())
  if (path === userHome) return 'a home folder'
  if (isInside(userHome, path)) return 'above a home folder'
  if (['/tmp', '/var/tmp', '/private/tmp', tmpdir()].some((folder) => path === real(folder))) {
    return 'the folder for temporary files'
  }
  return isInside(path, home) ? 'the store of Savestate' : undefined
}

function real(path: string): BytePath {
  try {
    // Not every system has every one of them, and an error takes longer to be made than a look.
    if (statSync(path, { throwIfNoEntry: false }) === undefined) return bytePath(path)
    return bytePath(realpathSync.native(path))
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'EACCES', 'ENOTDIR')) return bytePath(path)
    throw error
  }
}
