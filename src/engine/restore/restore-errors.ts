// The errors of a rewind, undo or redo: of one that cannot be applied, and of one that failed midway. The latter says
// whether anything was changed, and which command repeats it.
import {
  type ErrorCode,
  explainSystemError,
  type FilesCheckpoint,
  hasCode,
  type Left,
  NOT_READABLE,
  pathText,
  printablePath,
  type Project,
  remedyFor,
  type RestorePlan,
  SavestateError,
} from '../../model/index.js'
import { mountPointOf } from '../../system/index.js'
import type { Journal } from './restore-journal.js'

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
  readonly plan: RestorePlan
}

type Repeatable = Pick<Journal, 'kind' | 'rewind'>

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
  const isAboutDisk = code === 'DISK_FULL' || hasCode(cause, 'EROFS')
  const disk = isAboutDisk ? ` (the disk mounted at ${findMountPoint(message, failed)})` : ''
  const again = repeatCommand(failed.request)
  return new SavestateError(code, message, {
    hint: `${state} ${remedyFor(cause)}${disk}, then repeat it: ${again}`,
    cause,
  })
}

/** Uses the id: the number that the user typed may mean another checkpoint now. */
export function repeatCommand({ kind, rewind }: Repeatable): string {
  if (rewind === undefined) return `savestate ${kind}`
  const { undone } = rewind
  return undone === undefined
    ? `savestate rewind ${rewind.target}`
    : `savestate undo ${undone.join(' ')}`
}

function describeOutcome({ outcome, plan, request }: Failed): string {
  const entries = [...plan.write.map(({ to }) => to), ...plan.remove.map(({ from }) => from)]
  const files = entries.filter(({ type }) => type !== 'folder').length
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

/** The project's disk or the store's: messages about files of the project contain their full path. */
function findMountPoint(message: string, { project, context }: Failed): string {
  const path = pathText(project.path)
  return mountPointOf(message.includes(path) ? path : context.home)
}

export function refuseConflicts({ conflict }: RestorePlan, request: Repeatable): void {
  const [first] = conflict
  if (first === undefined) return
  const others = conflict.length === 1 ? '' : ` and ${conflict.length - 1} more`
  throw new SavestateError(
    'REWIND_CONFLICT',
    `${printablePath(first.path)}${others} would be overwritten, but is ${first.reason}`,
    {
      hint: `${suggestWayOut(first, request)}. --dry-run lists them all. Nothing has been changed.`,
    },
  )
}

/** The paths that a merge left without a decision. */
export function refuseMergeConflicts(conflict: readonly Left[]): void {
  const [first] = conflict
  if (first === undefined) return
  const files = conflict.length === 1 ? 'One path' : `${conflict.length} paths`
  const lines = conflict.map(({ path, reason }) => `  ${printablePath(path)}  (${reason})`)
  throw new SavestateError('MERGE_CONFLICT', `${files} cannot be merged`, {
    hint: [
      ...lines,
      'Decide for all of them: --ours keeps them as they are, --theirs brings back the whole version from before the step, --conflict=markers marks the conflicts in text files. Nothing has been changed.',
    ].join('\n'),
  })
}

export function disturbedError(
  plan: RestorePlan,
  { safety, request }: { readonly safety: FilesCheckpoint; readonly request: Repeatable },
): SavestateError {
  const [blocked] = plan.conflict
  const paths = [...plan.write, ...plan.remove].map(({ path }) => printablePath(path))
  const message =
    blocked === undefined
      ? `Something keeps writing to ${paths.slice(0, 3).join(', ')}`
      : `${printablePath(blocked.path)} would be overwritten, but is now ${blocked.reason}`
  const advice =
    blocked === undefined
      ? oneOf(['Stop the program that does', ...otherPaths(request)])
      : suggestWayOut(blocked, request)
  return new SavestateError('REWIND_DISTURBED', message, {
    hint: `Everything that had been written was reverted; the files from before are also in checkpoint ${safety.id}. ${advice}, then repeat it: ${repeatCommand(request)}`,
  })
}

/** A readable file can be saved and then overwritten. */
function suggestWayOut({ reason }: Left, request: Repeatable): string {
  const ways =
    reason === NOT_READABLE
      ? ['Make it and its folder readable (chmod u+rX)', 'move it away']
      : ['Move it away']
  return oneOf([...ways, ...otherPaths(request)])
}

/** An undo and a redo have no such option: they restore the paths that their rewind or step changed. */
function otherPaths({ kind, rewind }: Repeatable): readonly string[] {
  return kind === 'rewind' && rewind?.undone === undefined
    ? ['restore other paths with --path']
    : []
}

/** `a`, `a, or b`, `a, b, or c`. */
function oneOf(ways: readonly string[]): string {
  return [...ways.slice(0, -1), `${ways.length > 1 ? 'or ' : ''}${ways.at(-1) ?? ''}`].join(', ')
}

/** Nothing to roll back: the restored files are in the folder that was moved away. */
export function replacedError(project: Project, safety: FilesCheckpoint): SavestateError {
  return new SavestateError(
    'REWIND_DISTURBED',
    `${printablePath(project.path)} was replaced by another folder in the meantime`,
    {
      hint: `The new folder was not changed. Checkpoint ${safety.id} has all files of the old one.`,
    },
  )
}
