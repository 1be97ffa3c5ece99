// Which checkpoint a rewind goes to, and how that one is shown to the user.
import * as z from 'zod/mini'
import type { Ledger } from '../ledger/index.js'
import {
  type Checkpoint,
  hasFiles,
  momentOfMetadata,
  parseReference,
  type Project,
  SavestateError,
} from '../model/index.js'
import { knownProject } from './context.js'
import { projectOperation } from './operation.js'
import { recoverIfNeeded } from './recover.js'
import { resolve } from './resolve.js'
import { type TargetView, viewCheckpoint } from './view.js'

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
    await recoverIfNeeded(context, hooks)
    const { ledger } = context
    const named = resolveTarget(ledger, knownProject(context), to)
    const target = before ? checkpointBefore(ledger, named) : named
    return { named: viewTarget(ledger, named), target: viewTarget(ledger, target) }
  },
})

/** Like `resolve`, but refuses a number that a failed rewind has shifted. */
export function resolveTarget(
  ledger: Ledger,
  project: Project | undefined,
  text: string,
): Checkpoint {
  const checkpoint = resolve(ledger, project, text)
  if (project !== undefined) refuseShiftedNumber(ledger, project, text)
  return checkpoint
}

/**
 * The folder just before the call that a checkpoint names: the checkpoint with files that precedes it in the project,
 * since hooks save before each call. A checkpoint made before what it names is its own answer. Throws
 * CHECKPOINT_UNKNOWN if nothing was saved before, KEY_MISSING or KEY_WRONG if the metadata cannot be read.
 */
export function checkpointBefore(ledger: Ledger, checkpoint: Checkpoint): Checkpoint {
  const metadata = checkpoint.session?.metadata
  ledger.expectOpen(metadata)
  if (momentOfMetadata(metadata) === 'before') return checkpoint
  const before = ledger.checkpoints.filesBefore(checkpoint)
  if (before !== undefined) return before
  throw nothingBefore(checkpoint, 'project')
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

export function viewTarget({ checkpoints }: Ledger, checkpoint: Checkpoint): TargetView {
  const number = hasFiles(checkpoint) ? checkpoints.numberOf(checkpoint) : null
  return { ...viewCheckpoint(checkpoint), number }
}

/**
 * A failed rewind leaves its safety checkpoint as the newest, so that every number means another checkpoint than when the
 * user looked. Repeating `rewind 1` would find nothing to do and report success.
 */
function refuseShiftedNumber(ledger: Ledger, project: Project, text: string): void {
  if (parseReference(text).type !== 'number') return
  const newest = ledger.checkpoints.byNumber({ project: project.id }, 1)
  if (newest?.kind !== 'safety' || ledger.isInOperation(newest.id)) return
  const target = ledger.checkpoints.details(newest.id)?.rewind?.target
  if (target === undefined) return
  throw new SavestateError(
    'CHECKPOINT_AMBIGUOUS',
    `The number ${text} may mean another checkpoint than before: a rewind failed, and what it saved first is number 1 now`,
    {
      hint: `Repeat that rewind: savestate rewind ${target}\nTo go elsewhere, type an id of \`savestate list\`.`,
    },
  )
}
