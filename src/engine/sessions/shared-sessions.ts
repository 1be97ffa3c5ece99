// Opens, forks, deletes and closes sessions for callers that need not know whether the store has a remote. The code of sharing is loaded
// only if it has.
import { withFilesHere } from '../checkpoints/files-here.js'
import type { Project } from '../../model/index.js'
import type { DependencyMode } from '../attempts/index.js'
import type { StoreContext } from '../operation/context.js'
import type { OpenedShare } from '../sharing/fleet.js'
import { openSession, type OpenRequest, refuseKnown } from './open-session.js'
import type { SessionContext } from './session-context.js'
import { deleteSession, findCheckpoint, forkSession } from './sessions.js'

export type AnyForkRequest = {
  /** The id of the new session. */
  readonly id: string
  /** The session that the reference belongs to. */
  readonly of?: string | undefined
  readonly agent?: string | undefined
  /** A new or empty folder that becomes the project of the new session, with the files of the checkpoint. */
  readonly into?: string | undefined
  readonly dependencies?: DependencyMode | undefined
}

/** Without a lease, the session is as the remote has it now, and each write takes it for a moment. */
export async function openAnySession(
  context: StoreContext,
  request: OpenRequest,
): Promise<OpenedShare> {
  const { fleet } = context
  if (fleet === undefined) return openedHere(openSession(context, request))
  return request.lease === false ? fleet.openUnleased(request) : fleet.open(request)
}

/** Begins a new session at a checkpoint: its id, or a reference within the session `of`. */
export async function forkAnySession(
  context: StoreContext,
  ref: string,
  { id, of, agent, into, dependencies }: AnyForkRequest,
): Promise<OpenedShare> {
  const { fleet, ledger } = context
  const notices = of === undefined ? [] : ((await fleet?.refresh(of)) ?? [])
  const from = await withFilesHere(context, findCheckpoint(context, ref, of))
  const forkIn = async (own?: Project): Promise<OpenedShare> => {
    const fork = () => forkSession(context, from, { id, agent, project: own })
    if (fleet === undefined) return openedHere(await fork())
    const origin = from.session === null ? undefined : ledger.sessions.byKey(from.session.key)
    const projectId = own?.id ?? from.project ?? origin?.project ?? null
    const project = projectId === null ? undefined : ledger.project(projectId)
    const facts = { agent: agent ?? origin?.agent ?? null, project }
    const created = await fleet.create(id, facts, fork)
    return { ...created, notices: [...notices, ...created.notices] }
  }
  if (into === undefined) return forkIn()
  refuseKnown(context, id)
  const { forkInto } = await import('../attempts/fork-into.js')
  return forkInto(context, from, { into, dependencies, fork: forkIn })
}

/** Deletes a session here and on the remote; returns how many checkpoints it had. The remote comes first: it is what counts. */
export async function deleteAnySession(
  context: StoreContext & Pick<Partial<SessionContext>, 'lease' | 'share'>,
  id: string,
): Promise<number> {
  const { fleet, share, ledger, lease } = context
  const own = lease !== undefined && lease.id === id ? { fence: lease.fence } : {}
  if (fleet === undefined) return deleteSession(context, id, own).removed
  const steps = await fleet.deleteThere(id, share)
  const { removed } = deleteSession(context, id, own)
  ledger.sharing.unshare({ kind: 'session', id })
  return Math.max(removed, steps)
}

/** Releases the lease, here and on the remote. Throws NOT_SHARED if the remote lacks something; the lease is released anyway. */
export async function closeSession(context: SessionContext): Promise<void> {
  const { fleet, share, isLeased, ledger, lease } = context
  try {
    if (share !== undefined) await fleet?.release(share)
  } finally {
    if (isLeased) ledger.sessions.releaseLease(lease)
  }
}

function openedHere(session: SessionContext): OpenedShare {
  return { session, notices: [], remoteProject: null }
}

/**
 * Returns once the remote has what the caller wrote; at once without a remote. `skipBusy`: changes of sessions that another host has open
 * wait until this one opens them. Throws NOT_SHARED, SESSION_FENCED.
 */
export async function acknowledge(
  { fleet, share }: Pick<StoreContext, 'fleet'> & Pick<Partial<SessionContext>, 'share'>,
  options: { readonly skipBusy?: boolean } = {},
): Promise<void> {
  if (share !== undefined) await share.acknowledge()
  else await fleet?.acknowledge(options)
}
