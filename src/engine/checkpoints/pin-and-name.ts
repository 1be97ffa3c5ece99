// Pins and names a checkpoint. Neither changes its contents.
import * as z from 'zod/mini'
import { findKnownProject, type ProjectContext } from '../operation/context.js'
import { checkName, refuseRenaming } from './checkpoint-name.js'
import type { Callbacks } from '../operation/callbacks.js'
import { projectOperation } from '../operation/operation.js'
import { recoverIfNeeded } from '../restore/recover.js'
import { resolve } from './resolve-ref.js'
import { type CheckpointView, viewCheckpoint } from './views.js'

export const pin = projectOperation({
  name: 'pin',
  summary: 'Keep a checkpoint regardless of the limits',
  effect: 'adds',
  input: () => z.strictObject({ ref: z.string() }),
  run: (context, { ref }, callbacks) => setPinned(context, ref, { pinned: true, callbacks }),
})

export const unpin = projectOperation({
  name: 'unpin',
  summary: 'Let the limits apply to a checkpoint again',
  effect: 'changes-store',
  input: () => z.strictObject({ ref: z.string() }),
  run: (context, { ref }, callbacks) => setPinned(context, ref, { pinned: false, callbacks }),
})

export const name = projectOperation({
  name: 'name',
  summary: 'Name a checkpoint, or remove its name',
  effect: 'adds',
  input: () =>
    z.strictObject({
      ref: z.string(),
      name: z.nullable(z.string()),
      namedBy: z._default(z.enum(['user', 'agent']), 'user'),
    }),
  async run(context, input, callbacks): Promise<NameResult> {
    await recoverIfNeeded(context, callbacks)
    const project = findKnownProject(context)
    const by = input.namedBy
    const wanted =
      input.name === null ? null : checkName(context, project?.id, { name: input.name, by })
    const checkpoint = resolve(context.ledger, project, input.ref)
    refuseRenaming(context, checkpoint.id, by)
    const { checkpoints, nameOwners } = context.ledger
    context.ledger.transaction(() => {
      checkpoints.setName(checkpoint.id, wanted)
      nameOwners.record(checkpoint.id, by)
    })
    const named =
      wanted === null || project === undefined
        ? []
        : checkpoints.allByName({ project: project.id }, wanted, 2)
    return {
      ...viewCheckpoint({ ...checkpoint, name: wanted }),
      previousName: checkpoint.name,
      sameName: named.find(({ id }) => id !== checkpoint.id)?.id ?? null,
      meant: named[0]?.id ?? null,
    }
  },
})

export type NameResult = CheckpointView & {
  /** Null if it had none. */
  readonly previousName: string | null
  /** The newest other checkpoint with the new name. */
  readonly sameName: string | null
  /** The checkpoint that the name refers to from now on: the newest that has it. */
  readonly meant: string | null
}

async function setPinned(
  context: ProjectContext,
  ref: string,
  { pinned, callbacks }: { readonly pinned: boolean; readonly callbacks: Callbacks },
): Promise<CheckpointView> {
  await recoverIfNeeded(context, callbacks)
  const checkpoint = resolve(context.ledger, findKnownProject(context), ref)
  context.ledger.checkpoints.setPinned(checkpoint.id, pinned)
  return viewCheckpoint({ ...checkpoint, pinned })
}
