// The current folder of the process, and `-C DIR`, which works as in git: as if the command were started in DIR.
import { hasCode } from '../../base/index.js'
import type { Options } from '../args/parse.js'

/** Undefined if it no longer exists, or if Node lost bytes of its path because that is not UTF-8. */
export function currentFolder(): string | undefined {
  const folder = isCurrentFolderGone() ? '\ufffd' : process.cwd()
  return folder.includes('\ufffd') ? undefined : folder
}

export function isCurrentFolderGone(): boolean {
  try {
    process.cwd()
    return false
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return true
    throw error
  }
}

/** Returns `.`, or DIR if it cannot be entered: it may be the missing folder of a known project. */
export function enterFolder(options: Options): string {
  const given = options.text('C')
  if (given === undefined) return '.'
  try {
    process.chdir(given)
    return '.'
  } catch {
    // Opening the project reports why.
    return given
  }
}
