// Folders of the operating system. Capturing one is always a mistake: they contain other users' secrets (/etc/shadow), and a
// rewind could break the machine. One with a project marker in it is captured.
import { existsSync } from 'node:fs'
import { join } from 'node:path'

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

/** `hasMark`: whether the folder contains a project marker. */
export function isSystemFolder(path: string, hasMark = hasProjectMark): boolean {
  const isAtOrBelow = (folder: string) => path === folder || path.startsWith(`${folder}/`)
  if (EXCEPT.some(isAtOrBelow)) return false
  const isSystem = ALONE.includes(path) || WITH_ALL_BELOW.some(isAtOrBelow)
  return isSystem && !foldersUpTo(path).some((folder) => hasMark(folder))
}

function hasProjectMark(folder: string): boolean {
  return PROJECT_MARKS.some((name) => existsSync(join(folder, name)))
}

/** The folder and those above it, without the root. */
function foldersUpTo(path: string): readonly string[] {
  const names = path.split('/').slice(1)
  return names.map((_, index) => `/${names.slice(0, names.length - index).join('/')}`)
}
