// Finds the checkpoint that <ref> names.
import type { CheckpointDetails, CheckpointView } from '../../index.js'
import type { Request } from './command.js'
import { sessionToRead } from './open-session.js'

/** In the project or, with --session, in a session. */
export async function findCheckpoint(request: Request): Promise<CheckpointDetails> {
  const { options, argument, project, hooks } = request
  if (options.has('session')) return findInSession(request)
  return (await project()).show(argument(0), hooks)
}

/** For a rewind, which refuses a number that a failed rewind has shifted. */
export async function findTarget(request: Request): Promise<CheckpointView> {
  const { options, argument, project, hooks } = request
  if (options.has('session')) return findInSession(request)
  return (await (await project()).internals.target(argument(0), hooks)).named
}

/** The details of a checkpoint that was found before. */
export async function detailsOf(
  request: Request,
  { id, session }: CheckpointView,
): Promise<CheckpointDetails> {
  const { options, project, store, hooks } = request
  if (!options.has('session') || session === null) return (await project()).show(id, hooks)
  return (await sessionToRead(await store(), session)).show(id)
}

async function findInSession({ options, argument, store }: Request): Promise<CheckpointDetails> {
  return (await sessionToRead(await store(), options.text('session') ?? '')).show(argument(0))
}
