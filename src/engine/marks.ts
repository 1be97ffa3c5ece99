// What a person puts on a checkpoint: a name, a pin. Neither changes what it holds.
import * as z from 'zod/mini'
import { parseName } from '../model/index.js'
import { knownProject, type ProjectContext } from './context.js'
import type { Hooks } from './hooks.js'
import { projectOperation } from './operation.js'
import { recoverIfNeeded } from './recover.js'
import { resolve } from './resolve.js'
import { type CheckpointView, viewCheckpoint } from './view.js'

export const pin = projectOperation({
  name: 'pin',
  summary: 'Keep a checkpoint whatever the limits say',
  effect: 'adds',
  input: () => z.strictObject({ ref: z.string() }),
  run: (context, { ref }, hooks) => setPinned(context, ref, { pinned: true, hooks }),
})

export const unpin = projectOperation({
  name: 'unpin',
  summary: 'Let the limits apply to a checkpoint again',
  effect: 'adds',
  input: () => z.strictObject({ ref: z.string() }),
  run: (context, { ref }, hooks) => setPinned(context, ref, { pinned: false, hooks }),
})

export const name = projectOperation({
  name: 'name',
  summary: 'Give a checkpoint a name',
  effect: 'adds',
  input: () => z.strictObject({ ref: z.string(), name: z.string() }),
  async run(context, input, hooks): Promise<CheckpointView> {
    await recoverIfNeeded(context, hooks)
    const wished = parseName(input.name)
    const checkpoint = resolve(context.ledger, knownProject(context), input.ref)
    context.ledger.checkpoints.setName(checkpoint.id, wished)
    return viewCheckpoint({ ...checkpoint, name: wished })
  },
})

async function setPinned(
  context: ProjectContext,
  ref: string,
  { pinned, hooks }: { readonly pinned: boolean; readonly hooks: Hooks },
): Promise<CheckpointView> {
  await recoverIfNeeded(context, hooks)
  const checkpoint = resolve(context.ledger, knownProject(context), ref)
  context.ledger.checkpoints.setPinned(checkpoint.id, pinned)
  return viewCheckpoint({ ...checkpoint, pinned })
}
