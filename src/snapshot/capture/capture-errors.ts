// Errors that stop the capture of a project.
import { type BytePath, printablePath, SavestateError } from '../../model/index.js'
import type { CaptureTarget } from './capture-target.js'
import { isSameNumber, lstat, type Stats } from './stat-cache/stats.js'

function rootMissingError(root: BytePath): SavestateError {
  return new SavestateError('PROJECT_MISSING', `There is no folder ${printablePath(root)}`, {
    hint: 'If it was moved, run the command where it is now. If it was removed, `savestate rewind` creates it again.',
  })
}

export function rootError(root: BytePath, fault: 'unreadable' | 'unstable'): SavestateError {
  if (fault === 'unstable') return rootReplacedError(root)
  return new SavestateError('PROJECT_MISSING', 'The project folder cannot be read', {
    hint: 'Check its permissions.',
  })
}

export function statRoot(root: BytePath): Stats {
  const stats = lstat(root)
  if (stats === undefined || stats === 'unreadable' || !stats.isDirectory())
    throw rootMissingError(root)
  return stats
}

/** Throws if the folder was replaced during the scan: the scan may have seen only a part of it. */
export function expectSameRoot(root: BytePath, ino: bigint): void {
  if (!isSameNumber(statRoot(root).ino, ino)) throw rootReplacedError(root)
}

export function rootReplacedError(root: BytePath): SavestateError {
  return new SavestateError(
    'PROJECT_MISSING',
    `${printablePath(root)} was replaced by another folder while it was being read`,
    { hint: 'Nothing was saved. Run the command again.' },
  )
}

export function tooManyFilesError({ limits }: CaptureTarget): SavestateError {
  return new SavestateError(
    'TOO_MANY_FILES',
    `The project has more than ${limits.maxFiles} files to capture`,
    {
      hint: 'Leave folders out with a .savestateignore file, or raise the setting maxFiles (see: savestate config).',
    },
  )
}
