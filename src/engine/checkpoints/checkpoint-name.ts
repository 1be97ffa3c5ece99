// Checks a new checkpoint name. An agent may not use, move or remove a name that the user gave: `rewind works` must
// restore the checkpoint that the user called "works".
import {
  type CheckpointId,
  type NamedBy,
  parseAgentName,
  parseName,
  type ProjectId,
  SavestateError,
} from '../../model/index.js'
import type { StoreContext } from '../operation/context.js'

type GivenName = { readonly name: string; readonly by: NamedBy }

/** Returns the name to record. Throws BAD_INPUT, or NEEDS_PERSON if an agent asks for a name that the user gave. */
export function checkName(
  { ledger }: StoreContext,
  project: ProjectId | undefined,
  { name, by }: GivenName,
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
export function refuseRenaming({ ledger }: StoreContext, id: CheckpointId, by: NamedBy): void {
  if (by === 'user' || !ledger.nameOwners.hasUsersName(id)) return
  throw new SavestateError(
    'NEEDS_PERSON',
    `The user gave checkpoint ${id} its name, so an agent cannot change it`,
    { hint: 'Ask the user to do it in their own terminal.' },
  )
}
