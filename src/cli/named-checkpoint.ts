// The checkpoint that a person means.
import type { CheckpointDetails } from '../index.js'
import type { Request } from './command.js'
import { sessionToRead } from './known-session.js'

/** What <ref> names: in the project, or with --of in a session. */
export async function namedCheckpoint(request: Request): Promise<CheckpointDetails> {
  const { options, argument, project, store, hooks } = request
  const of = options.text('of')
  if (of === undefined) return (await project()).show(argument(0), hooks)
  return (await sessionToRead(await store(), of)).show(argument(0))
}
