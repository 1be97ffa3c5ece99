// The errors of a rewind, undo or redo that cannot be applied.
import {
  type FilesCheckpoint,
  type Left,
  NOT_READABLE,
  printablePath,
  type Project,
  type RestorePlan,
  SavestateError,
} from '../../model/index.js'
import { repeatCommand, type Repeatable } from './explain-restore-failure.js'

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

/** Undo and redo have no such option: they restore the paths that their rewind changed. */
function otherPaths({ kind }: Repeatable): readonly string[] {
  return kind === 'rewind' ? ['restore other paths with --path'] : []
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
