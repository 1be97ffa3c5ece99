// Opens, closes and acknowledges for callers that need not know whether a store has a remote.
import type { StoreContext } from '../operation/context.js'
import { openSession, type OpenRequest } from '../sessions/open-session.js'
import type { SessionContext } from '../sessions/session-context.js'
import { deleteSession, findCheckpoint, forkSession } from '../sessions/sessions.js'
import { fetchMissingFiles } from './fetch-files.js'
import type { OpenedShare } from './fleet.js'

/** A session without a lease is not taken on the remote either: its writes are shipped one by one. */
export async function openAnySession(
  context: StoreContext,
  request: OpenRequest,
): Promise<OpenedShare> {
  if (context.fleet === undefined || request.lease === false)
    return { session: openSession(context, request), notices: [] }
  return context.fleet.open(request)
}

/** Begins a new session at a checkpoint: its id, or a reference within the session `of`. */
export async function forkAnySession(
  context: StoreContext,
  ref: string,
  { id, of, agent }: { readonly id: string; readonly of?: string | undefined; readonly agent?: string | undefined },
): Promise<OpenedShare> {
  const { fleet, ledger } = context
  if (of !== undefined) await fleet?.refresh(of)
  const from = await fetchMissingFiles(context, findCheckpoint(context, ref, of))
  const fork = () => forkSession(context, from, { id, agent })
  if (fleet === undefined) return { session: await fork(), notices: [] }
  const origin = from.session === null ? undefined : ledger.sessions.byKey(from.session.key)
  const projectId = from.project ?? origin?.project ?? null
  const project = projectId === null ? undefined : ledger.project(projectId)
  return fleet.create(id, { agent: agent ?? origin?.agent ?? null, project }, fork)
}

/** Deletes a session here and on the remote; returns how many checkpoints it had. The remote comes first: it is what counts. */
export async function deleteAnySession(
  context: StoreContext & Pick<Partial<SessionContext>, 'lease' | 'share'>,
  id: string,
): Promise<number> {
  const { fleet, share, ledger, lease } = context
  const own = lease?.id === id ? { fence: lease.fence } : {}
  const steps = (await fleet?.deleteThere(id, share)) ?? 0
  const { removed } = deleteSession(context, id, own)
  if (fleet !== undefined) ledger.transaction(() => ledger.sharing.unshare({ kind: 'session', id }))
  return Math.max(removed, steps)
}

/** Gives the session up, here and on the remote. Throws NOT_SHARED if the remote lacks something; the session is given up all the same. */
export async function closeSession(context: SessionContext): Promise<void> {
  const { fleet, share, isLeased, ledger, lease } = context
  try {
    if (share !== undefined) await fleet?.release(share)
  } finally {
    if (isLeased) ledger.sessions.releaseLease(lease)
  }
}

/** Returns once the remote has what the caller wrote; at once without a remote. Throws NOT_SHARED, SESSION_FENCED. */
export async function acknowledge({
  fleet,
  share,
}: Pick<StoreContext, 'fleet'> & Pick<Partial<SessionContext>, 'share'>): Promise<void> {
  await (share ?? fleet)?.acknowledge()
}
