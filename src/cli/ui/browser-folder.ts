// Where the browser can read the file that redirects to the page. Usually that is the folder for temporary files. A browser from a
// snap has a /tmp of its own and cannot read hidden folders of the home, but it can read ~/snap/<name>/common. A browser from
// Flatpak can read the one file that it is started with, wherever it is.
import { execFile } from 'node:child_process'
import { statSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'

const PATIENCE_MS = 1000

export async function browserFolder(): Promise<string> {
  const snaps = join(homedir(), 'snap')
  if (process.platform !== 'linux' || !isFolder(snaps)) return tmpdir()
  const name = snapOf(await defaultBrowser())
  const folder = join(snaps, name ?? '', 'common')
  return name !== undefined && isFolder(folder) ? folder : tmpdir()
}

/** The desktop file of a snap is named after the snap and the program in it: `firefox_firefox.desktop`. */
function snapOf(desktopFile: string): string | undefined {
  return /^([a-z0-9][a-z0-9-]*)_[\w.-]+\.desktop$/.exec(desktopFile.trim())?.[1]
}

/** The name of its desktop file; '' if it is not known. */
function defaultBrowser(): Promise<string> {
  return new Promise((resolve) => {
    execFile(
      'xdg-settings',
      ['get', 'default-web-browser'],
      { timeout: PATIENCE_MS },
      (error, stdout) => resolve(error === null ? stdout : ''),
    )
  })
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}
