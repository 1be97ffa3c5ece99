// The logs of this store, and which of them are shared with which remote.
import {
  type LogName,
  parseSessionId,
  type ProjectId,
  SavestateError,
} from '../../../model/index.js'
import type { SharedLog } from '../../../ledger/index.js'
import type { StoreContext } from '../../operation/context.js'
import { unknownSession } from '../../sessions/open-session.js'
import type { NamedRemote } from '../named-remote.js'
import { readRemotes } from '../remotes-file.js'

/** Everything; with a project, its sessions and its checkpoints that belong to none. */
export function localLogs({ ledger }: StoreContext, project?: ProjectId): readonly LogName[] {
  const sessions = ledger.sessions.list({ project })
  const threads = project === undefined ? ledger.threads.ids() : []
  const projects = project === undefined ? ledger.projects().map((it) => it.project.id) : [project]
  return [
    ...sessions.map(({ id }): LogName => ({ kind: 'session', id })),
    ...threads.map((id): LogName => ({ kind: 'thread', id })),
    ...projects.flatMap((id) => ledger.sharing.projectLogs(id)),
  ]
}

/** Throws SESSION_UNKNOWN. */
export function localSession({ ledger }: StoreContext, text: string): LogName {
  const id = parseSessionId(text)
  if (ledger.sessions.byId(id) === undefined) throw unknownSession(id)
  return { kind: 'session', id }
}

/** The logs that this store shares with a remote. Contacts nothing; empty before the first contact. */
export function logsWith({ ledger }: StoreContext, remoteId: string | null): readonly SharedLog[] {
  if (remoteId === null) return []
  return ledger.sharing.list({ remote: remoteId }).filter(({ isDeleted }) => !isDeleted)
}

/**
 * A log is on one remote: its position and its numbers are those of that remote. A log of a removed remote is shared again from its start.
 * Throws BAD_INPUT.
 */
export function refuseOtherRemote(
  { ledger, home }: StoreContext,
  { entry }: NamedRemote,
  log: LogName,
): void {
  const shared = ledger.sharing.get(log)
  if (shared === undefined || shared.remote === entry.id) return
  const other = readRemotes(home).find(({ id }) => id === shared.remote)
  if (other === undefined) return ledger.sharing.unshare(log)
  const isProject = log.kind === 'project'
  const what = isProject
    ? 'The checkpoints of this project that belong to no session are'
    : `The ${log.kind} ${JSON.stringify(log.id)} is`
  const fork = isProject ? '' : ', or fork the session and push the fork'
  throw new SavestateError('BAD_INPUT', `${what} shared through the remote ${other.name}`, {
    hint: `Use --remote ${other.name}${fork}.`,
  })
}
