// The head of a session that the user has named.
import { parseSessionId, SavestateError } from '../../model/index.js'
import type { LogHead } from '../../remote/index.js'
import type { NamedRemote } from './named-remote.js'

/** Throws SESSION_UNKNOWN, SESSION_DELETED. */
export async function requireHead({ remote, entry }: NamedRemote, text: string): Promise<LogHead> {
  const id = parseSessionId(text)
  const head = await remote.head({ kind: 'session', id })
  if (head !== undefined && !head.isDeleted) return head
  throw new SavestateError(
    head === undefined ? 'SESSION_UNKNOWN' : 'SESSION_DELETED',
    head === undefined
      ? `The remote ${entry.name} has no session ${JSON.stringify(id)}`
      : `The session ${JSON.stringify(id)} was deleted on the remote ${entry.name}`,
    { hint: `\`savestate sessions --remote ${entry.name}\` lists its sessions.` },
  )
}
