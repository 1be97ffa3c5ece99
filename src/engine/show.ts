// One checkpoint in full: what it holds, what it left out and why, and what changed since the one before.
import * as z from 'zod/mini'
import { invariant } from '../model/index.js'
import { knownProject } from './context.js'
import { projectOperation } from './operation.js'
import { recoverIfNeeded } from './recover.js'
import { resolve } from './resolve.js'
import { type CheckpointDetails, viewDetails } from './view.js'

export const show = projectOperation({
  name: 'show',
  summary: 'Show one checkpoint in full',
  effect: 'reads',
  input: z.object({ ref: z.string() }),
  async run(context, { ref }, hooks): Promise<CheckpointDetails> {
    await recoverIfNeeded(context, hooks)
    const { ledger, snapshots } = context
    const project = knownProject(context)
    const checkpoint = resolve(ledger, project, ref)
    const details = ledger.details(checkpoint.id)
    invariant(
      project !== undefined && details !== undefined,
      'a checkpoint has a project and details',
    )
    const before = ledger.before(checkpoint)
    const changes = await snapshots.compare(before?.snapshot.tree, checkpoint.snapshot.tree, {
      countLines: true,
    })
    return viewDetails(checkpoint, {
      details,
      changes,
      ref: snapshots.refOf(project, checkpoint.id),
    })
  },
})
