// A fork with a folder of its own: the files of the checkpoint in that folder, which becomes the project of the new session.
import type { Checkpoint, Project } from '../../model/index.js'
import { SavestateError } from '../../model/index.js'
import { withFiles } from '../checkpoints/resolve-ref.js'
import { ensureProject, type StoreContext } from '../operation/context.js'
import { writeCheckpoint } from './open.js'
import type { DependencyMode } from './dependencies.js'
import { prepareDestination } from './destination.js'

export type ForkInto = {
  readonly into: string
  readonly dependencies?: DependencyMode | undefined
}

/** Runs `fork` with the project of the folder. If it fails, nothing of the folder is left. */
export async function forkInto<Result>(
  context: StoreContext,
  from: Checkpoint,
  {
    into,
    dependencies = 'none',
    fork,
  }: ForkInto & { readonly fork: (project: Project) => Promise<Result> },
): Promise<Result> {
  const checkpoint = withFiles(from)
  const project = context.ledger.project(checkpoint.project)
  if (project === undefined)
    throw new SavestateError('CHECKPOINT_UNKNOWN', `Checkpoint ${from.id} was just removed`)
  const destination = prepareDestination(context, into, { outside: project })
  const how = { ...destination, project, dependencies, callbacks: {} }
  try {
    await writeCheckpoint(context, checkpoint, how)
    return await fork(ensureProject({ ...context, path: destination.path }))
  } catch (error) {
    destination.discard()
    throw error
  }
}
