// The rewinds that an undo and a redo would act on. Reads only the ledger.
import * as z from 'zod/mini'
import { type Operation, undoStack } from '../../model/index.js'
import { findKnownProject, type ProjectContext } from '../operation/context.js'
import { projectOperation } from '../operation/operation.js'
import { type CheckpointView, viewCheckpoint } from '../checkpoints/views.js'
import { recoverIfNeeded } from './recover.js'

export type Reversal = {
  readonly rewoundAt: Date
  /** The checkpoint that the rewind went to; null if it was removed since. */
  readonly to: CheckpointView | null
}

export type Reversals = {
  /** The rewind that `undo` takes back; null if there is none. */
  readonly undo: Reversal | null
  /** The rewind that `redo` repeats; null if there is none. */
  readonly redo: Reversal | null
}

export const reversals = projectOperation({
  name: 'reversals',
  summary: 'Find the rewinds that can be undone and redone',
  effect: 'reads',
  input: () => z.strictObject({}),
  withoutInput: () => ({}),
  async run(context, _, callbacks): Promise<Reversals> {
    await recoverIfNeeded(context, callbacks)
    const project = findKnownProject(context)
    if (project === undefined) return { undo: null, redo: null }
    const { undo, redo } = undoStack(context.ledger.operations(project.id))
    return { undo: viewReversal(context, undo), redo: viewReversal(context, redo) }
  },
})

function viewReversal({ ledger }: ProjectContext, rewind: Operation | undefined): Reversal | null {
  if (rewind === undefined) return null
  const target = ledger.checkpoints.details(rewind.result)?.rewind?.target
  const to = target === undefined ? undefined : ledger.checkpoints.get(target)
  return {
    rewoundAt: new Date(rewind.atMs),
    to: to === undefined ? null : viewCheckpoint(to),
  }
}
