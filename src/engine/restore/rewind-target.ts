// Finds the checkpoint that a rewind goes to, and describes it for the user.
import * as z from 'zod/mini'
import type { Ledger } from '../../ledger/index.js'
import {
  type Checkpoint,
  type CheckpointId,
  type FilesCheckpoint,
  hasFiles,
  readCheckpointMoment,
  parseReference,
  type Project,
  type RewindNote,
  SavestateError,
} from '../../model/index.js'
import type { LeftOut } from '../../snapshot/index.js'
import { findKnownProject, type StoreContext } from '../operation/context.js'
import { describeTarget } from '../checkpoints/describe-target.js'
import { repeatCommand } from './restore-errors.js'
import { readJournal } from './restore-journal.js'
import { projectOperation } from '../operation/operation.js'
import { recoverIfNeeded } from './recover.js'
import { resolve } from '../checkpoints/resolve-ref.js'
import { type TargetView, viewCheckpoint } from '../checkpoints/views.js'

export type FoundTarget = {
  /** The checkpoint that the reference names. */
  readonly named: TargetView
  /** The checkpoint that a rewind restores; with `before` it may be an earlier one. */
  readonly target: TargetView
}

/** For a caller that prepares something before the rewind: ids stay valid until then, numbers may not. */
export const findTarget = projectOperation({
  name: 'target',
  summary: 'Find the checkpoint that a rewind would go to',
  effect: 'reads',
  input: () => z.strictObject({ to: z.string(), before: z._default(z.boolean(), false) }),
  async run(context, { to, before }, callbacks): Promise<FoundTarget> {
    const { ledger } = context
    // Resolve before the recovery, which may add rows and so shift numbers.
    const { id } = resolveTarget(context, findKnownProject(context), to)
    await recoverIfNeeded(context, callbacks)
    const named = resolve(ledger, findKnownProject(context), id)
    const target = before ? checkpointBefore(ledger, named) : named
    return { named: viewTarget(ledger, named), target: viewTarget(ledger, target) }
  },
})

/** Like `resolve`, but refuses a number that a failed or interrupted rewind has shifted. Call it before recovery. */
export function resolveTarget(
  context: StoreContext,
  project: Project | undefined,
  text: string,
): Checkpoint {
  const checkpoint = resolve(context.ledger, project, text)
  if (project !== undefined && parseReference(text).type === 'number')
    refuseShiftedNumber(context, project, text)
  return checkpoint
}

/**
 * Finds the folder just before the tool call that a checkpoint names: the previous checkpoint with files in the project,
 * since hooks save before each call. A checkpoint that was made before its call is returned itself. Throws
 * CHECKPOINT_UNKNOWN if nothing was saved before or the previous step was removed, and KEY_MISSING or KEY_WRONG if the
 * metadata cannot be decrypted.
 */
export function checkpointBefore(ledger: Ledger, checkpoint: Checkpoint): Checkpoint {
  const metadata = checkpoint.session?.metadata
  ledger.expectOpen(metadata)
  if (readCheckpointMoment(metadata) === 'before') return checkpoint
  return filesBefore(ledger, checkpoint)
}

/** The checkpoint with files before this one in the project. Throws CHECKPOINT_UNKNOWN as `checkpointBefore` does. */
export function filesBefore(ledger: Ledger, checkpoint: Checkpoint): FilesCheckpoint {
  const before = ledger.checkpoints.filesBefore(checkpoint)
  if (before === undefined) throw nothingBeforeError(checkpoint, 'project')
  if (isStepBeforeRemoved(ledger, checkpoint)) throw removedBeforeError(checkpoint, before)
  return before
}

/** Steps count up by one; a prune or a drop leaves gaps. After a gap, the nearest checkpoint is not just before the call. */
function isStepBeforeRemoved({ checkpoints }: Ledger, { session }: Checkpoint): boolean {
  if (session === null || session.step === 0) return false
  return checkpoints.byStep(session.key, session.step - 1) === undefined
}

/** Within a session: the parent of the checkpoint. */
export function checkpointBeforeInSession(ledger: Ledger, checkpoint: Checkpoint): Checkpoint {
  const parent = checkpoint.session?.parent ?? null
  const before = parent === null ? undefined : ledger.checkpoints.get(parent)
  if (before !== undefined) return before
  throw nothingBeforeError(checkpoint, 'session')
}

function nothingBeforeError({ id }: Checkpoint, scope: 'project' | 'session'): SavestateError {
  return new SavestateError(
    'CHECKPOINT_UNKNOWN',
    `Checkpoint ${id} is the first of this ${scope}: nothing was saved before it`,
    { hint: `Go back to the checkpoint itself, without --before: savestate rewind ${id}` },
  )
}

function removedBeforeError({ id }: Checkpoint, nearest: Checkpoint): SavestateError {
  return new SavestateError(
    'CHECKPOINT_UNKNOWN',
    `The steps just before checkpoint ${id} are no longer kept`,
    {
      hint: `The nearest earlier checkpoint is ${describeTarget(nearest)}. To go there: savestate rewind ${nearest.id}`,
    },
  )
}

/** The paths that a checkpoint left out. A rewind to it must not remove them. */
export function readLeftOut({ checkpoints }: Ledger, id: CheckpointId): LeftOut {
  const { skippedPaths = [], rules } = checkpoints.details(id) ?? {}
  return { skipped: skippedPaths, rules }
}

export function viewTarget({ checkpoints }: Ledger, checkpoint: Checkpoint): TargetView {
  const number = hasFiles(checkpoint) ? checkpoints.numberOf(checkpoint) : null
  return { ...viewCheckpoint(checkpoint), number }
}

/**
 * A failed rewind leaves its safety checkpoint as the newest, so every number means another checkpoint than in the list
 * that the user saw. Repeating `rewind 1` would find nothing to do and report success. A killed rewind is finished by the
 * next command, which adds a row too.
 */
function refuseShiftedNumber(context: StoreContext, project: Project, text: string): void {
  const journal = readJournal(context.home, project.id)
  const failed = journal?.rewind ?? failedRewind(context.ledger, project)
  if (journal === undefined && failed === undefined) return
  const why =
    journal === undefined
      ? 'a rewind failed, and its safety checkpoint is number 1 now'
      : `the last ${journal.kind} was interrupted, and the next command finishes it`
  const command = repeatCommand({ kind: 'rewind', rewind: failed })
  const again = failed === undefined ? '' : `Repeat that rewind: ${command}\n`
  throw new SavestateError(
    'CHECKPOINT_AMBIGUOUS',
    `The number ${text} may mean another checkpoint than before: ${why}`,
    { hint: `${again}To rewind to another checkpoint, type its id from \`savestate list\`.` },
  )
}

/** The newest rewind, if it failed. */
function failedRewind(ledger: Ledger, { id }: Project): RewindNote | undefined {
  const newest = ledger.checkpoints.byNumber({ project: id }, 1)
  if (newest?.kind !== 'safety' || ledger.checkpoints.isInOperation(newest.id)) return undefined
  return ledger.checkpoints.details(newest.id)?.rewind
}
