// Explains a rewind, undo or redo that failed midway: whether it changed anything, and the command that repeats it. The
// command names the checkpoint by its id, because the safety checkpoint shifts the numbers.
import {
  type ErrorCode,
  explainSystemError,
  hasCode,
  type OperationKind,
  pathText,
  type Project,
  remedyFor,
  type RewindNote,
  SavestateError,
} from '../../model/index.js'
import { mountPointOf } from '../../system/index.js'

export type RestoreOutcome =
  | { readonly type: 'untouched' }
  /** All files but `left` are as they were. */
  | { readonly type: 'rolled-back'; readonly left: number }
  /** The journal stays, and the next command finishes or undoes the work. */
  | { readonly type: 'unfinished' }
  /** All files are written, only the row is missing. The next command adds it. */
  | { readonly type: 'unrecorded' }
  /** Another folder is at the project's path. */
  | { readonly type: 'replaced' }

type Failed = {
  readonly context: { readonly home: string }
  readonly project: Project
  readonly request: Repeatable
  readonly outcome: RestoreOutcome
  /** How many files the plan writes and removes. */
  readonly files: number
}

export type Repeatable = {
  readonly kind: OperationKind
  readonly rewind?: RewindNote | undefined
}

const SYSTEM_CODES: readonly ErrorCode[] = ['DISK_FULL', 'FILE_FAILED']

/** Returns the error to throw instead. Errors that are not system errors already have a hint. */
export function explainRestoreFailure(error: unknown, failed: Failed): unknown {
  const explained = explainSystemError(error)
  if (!(explained instanceof SavestateError)) return error
  const { code, message, hint } = explained
  const state = describeOutcome(failed)
  if (!SYSTEM_CODES.includes(code)) {
    if (failed.outcome.type !== 'unfinished') return error
    return new SavestateError(code, message, { hint: `${state} ${hint ?? ''}`, cause: error })
  }
  const cause = explained.cause ?? explained
  const disk = isAboutDisk(cause, code)
    ? ` (the disk mounted at ${findMountPoint(message, failed)})`
    : ''
  const again = repeatCommand(failed.request)
  return new SavestateError(code, message, {
    hint: `${state} ${remedyFor(cause)}${disk}, then repeat it: ${again}`,
    cause,
  })
}

/** Uses the id: the number that the user typed may mean another checkpoint now. */
export function repeatCommand({ kind, rewind }: Repeatable): string {
  return rewind === undefined ? `savestate ${kind}` : `savestate rewind ${rewind.target}`
}

function describeOutcome({ outcome, files, request }: Failed): string {
  switch (outcome.type) {
    case 'untouched':
      return 'Nothing was changed.'
    case 'rolled-back':
      return outcome.left === 0
        ? 'Nothing was changed: everything that had been written was reverted.'
        : `${outcome.left} of ${files} files could not be reverted; all others are as they were.`
    case 'unfinished':
      return `Up to ${files} files may have been changed, and this could not be reverted yet. The next savestate command in this folder finishes the ${request.kind} or reverts it.`
    case 'unrecorded':
      return `All ${files} files were restored, but the store could not record it. The next savestate command in this folder records it.`
    case 'replaced':
      return 'The folder that is there now was not touched.'
  }
}

function isAboutDisk(cause: unknown, code: ErrorCode): boolean {
  return code === 'DISK_FULL' || hasCode(cause, 'EROFS')
}

/** The project's disk or the store's: messages about files of the project contain their full path. */
function findMountPoint(message: string, { project, context }: Failed): string {
  const path = pathText(project.path)
  return mountPointOf(message.includes(path) ? path : context.home)
}
