// Folders that are never captured: they contain everything on the machine, or the store. They may also be mounted elsewhere, so
// their inodes are compared as well as their paths.
import { homedir, tmpdir } from 'node:os'
import { existsSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { ifExists } from '../../base/index.js'
import {
  type BytePath,
  bytePath,
  isInside,
  parentOf,
  printablePath,
  SavestateError,
} from '../../model/index.js'
import { identityOf, isSameFolder } from './same-folder.js'

const ROOT_OF_DISK = '/' as BytePath
const SYSTEM = 'a system folder'

// Folders of the operating system: they contain other users' secrets (/etc/shadow), and a rewind could break the machine.
// One with a project marker in it is captured.
/** Including everything below. */
const WITH_ALL_BELOW = (
  '/bin /boot /dev /etc /lib /lib32 /lib64 /libx32 /proc /sbin /sys ' +
  '/usr/bin /usr/include /usr/lib /usr/lib32 /usr/lib64 /usr/libexec /usr/sbin /usr/share ' +
  '/usr/local/bin /usr/local/etc /usr/local/include /usr/local/lib /usr/local/sbin /usr/local/share ' +
  '/var/cache /var/log /Applications /Library /System /private/etc'
).split(' ')
/** Only these themselves: users do have projects below, for example in /usr/src, /var/www and /run/media. */
const ALONE = ['/usr', '/usr/local', '/var', '/var/lib', '/run', '/private', '/private/var']
/** A RAM disk for user data. */
const EXCEPT = ['/dev/shm']
const PROJECT_MARKS = ['.git', '.savestateignore', '.savestate.json']

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

/** `hasMark`: whether the folder contains a project marker. */
export function isSystemFolder(path: BytePath, hasMark = hasProjectMark): boolean {
  const isAtOrBelow = (folder: string) => path === folder || path.startsWith(`${folder}/`)
  if (EXCEPT.some(isAtOrBelow)) return false
  const isSystem = ALONE.includes(path) || WITH_ALL_BELOW.some(isAtOrBelow)
  return isSystem && ![path, ...foldersAbove(path)].some((folder) => hasMark(folder))
}

function hasProjectMark(folder: BytePath): boolean {
  return PROJECT_MARKS.some((name) => existsSync(join(folder, name)))
}

/** Without the root of the disk. */
function foldersAbove(path: BytePath): readonly BytePath[] {
  const folders: BytePath[] = []
  for (let folder = parentOf(path); folder.length > 1; folder = parentOf(folder))
    folders.push(folder)
  return folders
}

function real(path: string): BytePath {
  return bytePath(ifExists(() => realpathSync.native(path), 'EACCES') ?? path)
}
