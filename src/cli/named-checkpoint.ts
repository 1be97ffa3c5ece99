// The checkpoint that a person means.
import type { CheckpointDetails } from '../index.js'
import type { Request } from './command.js'
import { sessionToRead } from './known-session.js'

/** What <ref> names: in the project, or with --session in a session. */
export async function namedCheckpoint(request: Request): Promise<CheckpointDetails> {
  const { options, argument, project, store, hooks } = request
  const session = options.text('session')
  if (session === undefined) return (await project()).show(argument(0), hooks)
  return (await sessionToRead(await store(), session)).show(argument(0))
}
