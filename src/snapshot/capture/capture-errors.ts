// Why a project cannot be captured at all.
import { type BytePath, printablePath, SavestateError } from '../../model/index.js'
import type { Site } from './capture-target.js'
import { isSameNumber, lstat, type Stats } from './stat-cache/stats.js'

function missing(root: BytePath): SavestateError {
  return new SavestateError('PROJECT_MISSING', `There is no folder ${printablePath(root)}`, {
    hint: 'If it was moved, run the command where it is now. If it was removed, `savestate rewind` makes it again.',
  })
}

export function rootFault(root: BytePath, fault: 'unreadable' | 'unstable'): SavestateError {
  if (fault === 'unstable') return replaced(root)
  return new SavestateError('PROJECT_MISSING', 'The project folder cannot be read', {
    hint: 'Check its permissions.',
  })
}

export function lookAtRoot(root: BytePath): Stats {
  const stats = lstat(root)
  if (stats === undefined || stats === 'unreadable' || !stats.isDirectory()) throw missing(root)
  return stats
}

/** What was read while the folder went away is less than it held, and must not be taken for all of it. */
export function expectSameRoot(root: BytePath, ino: bigint): void {
  if (!isSameNumber(lookAtRoot(root).ino, ino)) throw replaced(root)
}

export function replaced(root: BytePath): SavestateError {
  return new SavestateError(
    'PROJECT_MISSING',
    `${printablePath(root)} was replaced by another folder while it was being read`,
    { hint: 'Nothing has been saved of it. Run the command again.' },
  )
}

export function tooMany({ limits }: Site): SavestateError {
  return new SavestateError(
    'TOO_MANY_FILES',
    `The project has more than ${limits.maxFiles} files to capture`,
    {
      hint: 'Leave folders out with a .savestateignore file, or raise the setting maxFiles (see: savestate config).',
    },
  )
}
