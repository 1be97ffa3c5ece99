// Takes and gives up the right to write a session on a remote (I11).
import { isDeepStrictEqual } from 'node:util'
import {
  type LogHolder,
  type LogName,
  REMOTE_LEASE_MS,
  SavestateError,
} from '../../../model/index.js'
import type { LogHead, Remote, RemoteLease, TakeResult } from '../../../remote/index.js'
import { isSurelyDead, ownIdentity } from '../../../system/index.js'
import type { StoreContext } from '../../operation/context.js'
import { remoteProjectOf } from '../project-identity.js'
import { isUnreachable } from '../retry.js'
import { deletedThere } from '../share-errors.js'
import type { TakeLogRequest, TakenLog } from '../types.js'

/**
 * Takes the lease. A holder that is a dead process of this machine is replaced at once. Throws SESSION_BUSY with the holder and the
 * time, SESSION_UNKNOWN, SESSION_DELETED, and the errors of a remote. It does not read what was shared since: call `catchUp`.
 */
export async function takeLog(
  context: StoreContext,
  remote: Remote,
  request: TakeLogRequest,
): Promise<TakenLog> {
  const { log, leaseMs, create, force = false, ofStore = false } = request
  const { sinceMs = context.clock.nowMs() } = request
  const holder: LogHolder = { owner: ownIdentity(), sinceMs }
  const project = create?.project && remoteProjectOf(context, create.project)
  const take = {
    log,
    holder,
    leaseMs,
    ...(create === undefined ? {} : { create: { agent: create.agent, project: project ?? null } }),
  }
  const first = await remote.take(take)
  const known = ofStore ? (context.ledger.sharing.get(log)?.fence ?? null) : null
  const isOurs = !first.taken && known !== null && isLongLease(first.head, known)
  const isReplaced =
    !first.taken && first.head !== undefined && canReplace(first.head, holder, force || isOurs)
  const result = isReplaced ? await remote.take({ ...take, ifFence: first.head.fence }) : first
  if (result.taken) return result
  throw refusal(log, result)
}

/** A short lease is that of a process in mode wait, which works in this store: it must not lose its session to a push. */
function isLongLease(head: LogHead | undefined, fence: number): boolean {
  if (head?.fence !== fence) return false
  return head.leaseEndsInMs === null || head.leaseEndsInMs > REMOTE_LEASE_MS
}

/** Gives up the lease. Does nothing if another process has it by now. */
export async function releaseLog(remote: Remote, lease: RemoteLease): Promise<void> {
  await remote.release(lease)
}

/** The same. If the remote cannot be reached, the lease expires there by itself. */
export async function releaseIfReachable(remote: Remote, lease: RemoteLease): Promise<void> {
  try {
    await releaseLog(remote, lease)
  } catch (error) {
    if (!isUnreachable(error)) throw error
  }
}

/** The holder is dead, or this very caller: the answer to an earlier attempt was lost. */
function canReplace({ holder, isDeleted }: LogHead, own: LogHolder, force: boolean): boolean {
  if (holder === null || isDeleted) return false
  return force || isDeepStrictEqual(holder, own) || isSurelyDead(holder.owner)
}

/** Whether this caller has the lease by a take whose answer was lost. */
export function isOwnTake({ holder }: LogHead, sinceMs: number | undefined): boolean {
  return sinceMs !== undefined && isDeepStrictEqual(holder, { owner: ownIdentity(), sinceMs })
}

function refusal(log: LogName, { head }: Extract<TakeResult, { taken: false }>): SavestateError {
  const name = JSON.stringify(log.id)
  if (head === undefined)
    return new SavestateError('SESSION_UNKNOWN', `The remote has no session ${name}`, {
      hint: '`savestate sessions --remote` lists them.',
    })
  if (head.isDeleted) return deletedThere(log)
  const { owner } = head.holder ?? {}
  const who = owner === undefined ? 'Another process' : `Process ${owner.pid} on ${owner.host}`
  const { leaseEndsInMs } = head
  const end =
    leaseEndsInMs === null
      ? 'until it gives the session up'
      : `at most ${Math.ceil(leaseEndsInMs / 1000)} s if it is dead`
  return new SavestateError('SESSION_BUSY', `${who} is writing to the session ${name}`, {
    hint: `Wait until it ends: ${end}.`,
  })
}

/** Like `takeLog`; a remote that lost the session altogether gets it again. */
export async function takeOrRetakeLog(
  context: StoreContext,
  remote: Remote,
  request: TakeLogRequest,
): Promise<TakenLog> {
  try {
    return await takeLog(context, remote, request)
  } catch (error) {
    const isLost = error instanceof SavestateError && error.code === 'SESSION_UNKNOWN'
    if (!isLost || context.ledger.sharing.get(request.log) === undefined) throw error
    return retakeLog(context, remote, { ...request, head: undefined })
  }
}

/** The remote has lost segments, and this process had the log last: it takes it again, and creates it if it is lost altogether. */
export async function retakeLog(
  context: StoreContext,
  remote: Remote,
  {
    log,
    leaseMs,
    sinceMs,
    head,
  }: Pick<TakeLogRequest, 'log' | 'leaseMs' | 'sinceMs'> & { readonly head: LogHead | undefined },
): Promise<TakenLog> {
  const { ledger } = context
  const session = ledger.sessions.byId(log.id)
  const projectId = session?.project ?? null
  const project = projectId === null ? undefined : ledger.project(projectId)
  const create = { agent: session?.agent ?? null, project }
  return takeLog(context, remote, {
    log,
    leaseMs,
    sinceMs,
    create,
    ...(head === undefined ? {} : { force: true }),
  })
}
