// Pins and names a checkpoint. Neither changes its contents. An agent may not use, move or remove a name that the user gave:
// `rewind works` must restore the checkpoint that the user called "works".
import * as z from 'zod/mini'
import {
  type CheckpointId,
  type NamedBy,
  parseAgentName,
  parseName,
  type ProjectId,
  SavestateError,
} from '../../model/index.js'
import { findKnownProject, type ProjectContext, type StoreContext } from '../operation/context.js'
import type { Callbacks } from '../operation/callbacks.js'
import { projectOperation } from '../operation/operation.js'
import { recoverIfNeeded } from '../restore/recover.js'
import { resolve } from './resolve-ref.js'
import { type CheckpointView, viewCheckpoint } from './views.js'

const refInput = () => z.strictObject({ ref: z.string() })

export const pin = projectOperation({
  name: 'pin',
  summary: 'Keep a checkpoint regardless of the limits',
  effect: 'adds',
  input: refInput,
  run: (context, { ref }, callbacks) => setPinned(context, ref, { pinned: true, callbacks }),
})

export const unpin = projectOperation({
  name: 'unpin',
  summary: 'Let the limits apply to a checkpoint again',
  effect: 'changes-store',
  input: refInput,
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

/** Returns the name to record. Throws BAD_INPUT, or NEEDS_PERSON if an agent asks for a name that the user gave. */
export function checkName(
  { ledger }: StoreContext,
  project: ProjectId | undefined,
  { name, by }: { readonly name: string; readonly by: NamedBy },
): string {
  if (by === 'user') return parseName(name)
  const wanted = parseAgentName(name)
  if (project !== undefined && ledger.nameOwners.isUsers(project, wanted))
    throw new SavestateError(
      'NEEDS_PERSON',
      `The user has named a checkpoint ${JSON.stringify(wanted)} in this project, so an agent cannot use that name`,
      { hint: 'Choose another name. Nothing has been changed.' },
    )
  return wanted
}

/** Throws NEEDS_PERSON if an agent would replace or remove a name that the user gave. */
function refuseRenaming({ ledger }: StoreContext, id: CheckpointId, by: NamedBy): void {
  if (by === 'user' || !ledger.nameOwners.hasUsersName(id)) return
  throw new SavestateError(
    'NEEDS_PERSON',
    `The user gave checkpoint ${id} its name, so an agent cannot change it`,
    { hint: 'Ask the user to do it in their own terminal.' },
  )
}
