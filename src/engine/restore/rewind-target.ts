// Finds the checkpoint that a rewind goes to, and describes it for the user.
import * as z from 'zod/mini'
import type { Ledger } from '../../ledger/index.js'
import {
  type Checkpoint,
  type CheckpointId,
  hasFiles,
  momentOfMetadata,
  parseReference,
  type Project,
  SavestateError,
} from '../../model/index.js'
import type { LeftOut } from '../../snapshot/index.js'
import { knownProject, type StoreContext } from '../operation/context.js'
import { describeTarget } from '../checkpoints/describe-target.js'
import { Journals } from './restore-journal.js'
import { projectOperation } from '../operation/operation.js'
import { recoverIfNeeded } from './recover.js'
import { resolve } from '../checkpoints/resolve-ref.js'
import { type TargetView, viewCheckpoint } from '../checkpoints/views.js'

export type FoundTarget = {
  /** The checkpoint that the reference means. */
  readonly named: TargetView
  /** The checkpoint that a rewind goes to: with `before` perhaps an earlier one. */
  readonly target: TargetView
}

/** For a caller that asks or prepares something before the rewind: the ids mean the same until then, numbers may not. */
export const findTarget = projectOperation({
  name: 'target',
  summary: 'Find the checkpoint that a rewind would go to',
  effect: 'reads',
  input: () => z.strictObject({ to: z.string(), before: z._default(z.boolean(), false) }),
  async run(context, { to, before }, hooks): Promise<FoundTarget> {
    const { ledger } = context
    // Before the recovery, which adds rows.
    const { id } = resolveTarget(context, knownProject(context), to)
    await recoverIfNeeded(context, hooks)
    const named = resolve(ledger, knownProject(context), id)
    const target = before ? checkpointBefore(ledger, named) : named
    return { named: viewTarget(ledger, named), target: viewTarget(ledger, target) }
  },
})

/** Like `resolve`, but refuses a number that a failed or interrupted rewind has shifted. Call it before `recover`. */
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
 * The folder just before the call that a checkpoint names: the checkpoint with files that precedes it in the project,
 * since hooks save before each call. A checkpoint made before what it names is its own answer. Throws
 * CHECKPOINT_UNKNOWN if nothing was saved before or the step before was removed, KEY_MISSING or KEY_WRONG if the
 * metadata cannot be read.
 */
export function checkpointBefore(ledger: Ledger, checkpoint: Checkpoint): Checkpoint {
  const metadata = checkpoint.session?.metadata
  ledger.expectOpen(metadata)
  if (momentOfMetadata(metadata) === 'before') return checkpoint
  const before = ledger.checkpoints.filesBefore(checkpoint)
  if (before === undefined) throw nothingBefore(checkpoint, 'project')
  if (isStepBeforeRemoved(ledger, checkpoint)) throw removedBefore(checkpoint, before)
  return before
}

/** Steps count up by one, and a prune or a drop leaves gaps: the nearest checkpoint is not just before the call then. */
function isStepBeforeRemoved({ checkpoints }: Ledger, { session }: Checkpoint): boolean {
  if (session === null || session.step === 0) return false
  return checkpoints.byStep(session.key, session.step - 1) === undefined
}

/** The same in a session: the checkpoint that it followed. */
export function checkpointBeforeInSession(ledger: Ledger, checkpoint: Checkpoint): Checkpoint {
  const parent = checkpoint.session?.parent ?? null
  const before = parent === null ? undefined : ledger.checkpoints.get(parent)
  if (before !== undefined) return before
  throw nothingBefore(checkpoint, 'session')
}

function nothingBefore({ id }: Checkpoint, scope: 'project' | 'session'): SavestateError {
  return new SavestateError(
    'CHECKPOINT_UNKNOWN',
    `Checkpoint ${id} is the first of this ${scope}: nothing was saved before it`,
    { hint: `Go back to the checkpoint itself, without --before: savestate rewind ${id}` },
  )
}

function removedBefore({ id }: Checkpoint, nearest: Checkpoint): SavestateError {
  return new SavestateError(
    'CHECKPOINT_UNKNOWN',
    `The steps just before checkpoint ${id} are no longer kept`,
    {
      hint: `The nearest earlier checkpoint is ${describeTarget(nearest)}. To go there: savestate rewind ${nearest.id}`,
    },
  )
}

/** The paths that a checkpoint left out, for the plan of a rewind to it. */
export function leftOutOf({ checkpoints }: Ledger, id: CheckpointId): LeftOut {
  const { skippedPaths = [], rules } = checkpoints.details(id) ?? {}
  return { skipped: skippedPaths, rules }
}

export function viewTarget({ checkpoints }: Ledger, checkpoint: Checkpoint): TargetView {
  const number = hasFiles(checkpoint) ? checkpoints.numberOf(checkpoint) : null
  return { ...viewCheckpoint(checkpoint), number }
}

/**
 * A failed rewind leaves its safety checkpoint as the newest, so that every number means another checkpoint than when the
 * user looked. Repeating `rewind 1` would find nothing to do and report success. A killed one is finished by the next
 * command, which adds a row too.
 */
function refuseShiftedNumber(context: StoreContext, project: Project, text: string): void {
  const journal = new Journals(context.home).read(project)
  const target = journal?.rewind?.target ?? failedTarget(context.ledger, project)
  if (journal === undefined && target === undefined) return
  const why =
    journal === undefined
      ? 'a rewind failed, and what it saved first is number 1 now'
      : `the last ${journal.kind} has not ended, and the next command finishes it`
  const again = target === undefined ? '' : `Repeat that rewind: savestate rewind ${target}\n`
  throw new SavestateError(
    'CHECKPOINT_AMBIGUOUS',
    `The number ${text} may mean another checkpoint than before: ${why}`,
    { hint: `${again}To go elsewhere, type an id of \`savestate list\`.` },
  )
}

/** The target of the newest rewind, if that rewind failed. */
function failedTarget(ledger: Ledger, { id }: Project): CheckpointId | undefined {
  const newest = ledger.checkpoints.byNumber({ project: id }, 1)
  if (newest?.kind !== 'safety' || ledger.checkpoints.isInOperation(newest.id)) return undefined
  return ledger.checkpoints.details(newest.id)?.rewind?.target
}
