// Why a project cannot be captured at all.
import { type BytePath, printablePath, SavestateError } from '../../model/index.js'
import type { Site } from './site.js'

export function missing(root: BytePath): SavestateError {
  return new SavestateError('PROJECT_MISSING', `There is no folder ${printablePath(root)}`, {
    hint: 'If it was moved, run the command where it is now.',
  })
}

export function tooMany({ limits }: Site): SavestateError {
  return new SavestateError(
    'TOO_MANY_FILES',
    `The project has more than ${limits.maxFiles} files to capture`,
    {
      hint: 'Leave folders out with a .savestateignore file, or raise limits.maxFiles where the store is opened.',
    },
  )
}
