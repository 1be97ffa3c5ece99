// Shows one checkpoint in full: its contents, the skipped paths with reasons, and the changes since the previous one.
import * as z from 'zod/mini'
import { type Checkpoint, hasFiles, invariant } from '../../model/index.js'
import { agentDetails } from './agent-details.js'
import { findKnownProject, type StoreContext } from '../operation/context.js'
import { readDamage } from '../verify/damage-marks.js'
import { projectOperation, sessionOperation } from '../operation/operation.js'
import { recoverIfNeeded } from '../restore/recover.js'
import { resolve, resolveInSession } from './resolve-ref.js'
import { type CheckpointDetails, viewDetails } from './views.js'

export const show = projectOperation({
  name: 'show',
  summary: 'Show one checkpoint in full',
  effect: 'reads',
  input: () => z.strictObject({ ref: z.string() }),
  async run(context, { ref }, callbacks): Promise<CheckpointDetails> {
    await recoverIfNeeded(context, callbacks)
    return context.objects.shared(async () =>
      readDetails(context, resolve(context.ledger, findKnownProject(context), ref)),
    )
  },
})

export const showInSession = sessionOperation({
  name: 'show',
  summary: 'Show one checkpoint of a session in full',
  effect: 'reads',
  input: () => z.strictObject({ ref: z.string() }),
  async run(context, { ref }): Promise<CheckpointDetails> {
    return context.objects.shared(async () =>
      readDetails(context, resolveInSession(context, context.lease.key, ref)),
    )
  },
})

/** The caller holds the objects lock shared: a prune must not remove objects while they are compared. */
async function readDetails(
  context: StoreContext,
  checkpoint: Checkpoint,
): Promise<CheckpointDetails> {
  const { ledger, snapshots } = context
  const details = ledger.checkpoints.details(checkpoint.id)
  const agent = agentDetails(context, checkpoint)
  if (!hasFiles(checkpoint))
    return viewDetails(checkpoint, { details, ref: null, changes: [], agent })
  const project = ledger.project(checkpoint.project)
  invariant(project !== undefined, 'a checkpoint with files has a project')
  const before = ledger.checkpoints.filesBefore(checkpoint)
  // The changes of a damaged checkpoint are unknown; everything else can be shown.
  const isDamaged = [checkpoint, before].some(
    (each) => each !== undefined && readDamage(ledger, each.id) !== undefined,
  )
  const changes = isDamaged
    ? []
    : await snapshots.compare(before?.snapshot.tree, checkpoint.snapshot.tree, { countLines: true })
  const refName = snapshots.refOf(project, checkpoint.id)
  return viewDetails(checkpoint, { details, ref: refName, changes, agent })
}
