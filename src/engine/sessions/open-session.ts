// Opens a session: creates it, or takes its lease, the right to write to it (I11). The lease of a dead process on this host is
// taken at once; any other one when it has expired.
import { StateMemory } from '../../ledger/index.js'
import {
  type Lease,
  LEASE_MS,
  parseSessionId,
  parseStorableText,
  type Project,
  SavestateError,
  type Session,
} from '../../model/index.js'
import { isOwnIdentity, isSurelyDead, ownIdentity } from '../../system/index.js'
import { WriteQueue } from './write-queue.js'
import type { StoreContext } from '../operation/context.js'
import { type SessionContext, StartTimes } from './session-context.js'

export type OpenRequest = {
  readonly id: string
  readonly agent?: string | undefined
  readonly project?: Project | undefined
  readonly metadata?: unknown
  /** False: open without a lease, for a caller that shares the session with other writers and orders its writes itself. */
  readonly lease?: boolean | undefined
  readonly must?: 'be known' | 'be new' | undefined
}

export function openSession(context: StoreContext, request: OpenRequest): SessionContext {
  return context.ledger.transaction(() => openInTransaction(context, request))
}

export function openInTransaction(context: StoreContext, request: OpenRequest): SessionContext {
  const { ledger } = context
  const id = parseSessionId(request.id)
  if (request.agent !== undefined) parseStorableText(request.agent, 'The name of an agent')
  const isLeased = request.lease ?? true
  const known = ledger.sessions.byId(id)
  if (known === undefined && request.must === 'be known') throw unknownSession(id)
  if (request.must === 'be new') refuseKnown(context, id)
  const found = known ?? createSession(context, id, request)
  refuseOtherProject(found, request.project)
  const session = isLeased ? takeLease(context, found) : found
  const project =
    request.project ?? (session.project === null ? undefined : ledger.project(session.project))
  return {
    ...context,
    lease: { key: session.key, id, fence: session.fence },
    isLeased,
    project,
    memory: new StateMemory(),
    running: new Set(),
    retried: new Set(),
    starts: new StartTimes(),
    writeQueue: new WriteQueue(id),
  }
}

/** Throws BAD_INPUT if there is a session with this id. */
export function refuseKnown({ ledger }: StoreContext, id: string): void {
  if (ledger.sessions.byId(parseSessionId(id)) === undefined) return
  throw new SavestateError('BAD_INPUT', `A session ${JSON.stringify(id)} already exists`, {
    hint: 'Choose another id.',
  })
}

export function unknownSession(id: string): SavestateError {
  return new SavestateError('SESSION_UNKNOWN', `There is no session ${JSON.stringify(id)}`, {
    hint: '`savestate sessions` lists them.',
  })
}

/** True if another process may be writing: its lease has not expired, and it is not known to be dead. */
export function isHeld(lease: Lease | null, nowMs: number): boolean {
  return lease !== null && lease.expiresAtMs > nowMs && !isSurelyDead(lease.owner)
}

/** Like `isHeld`, for callers that write without a lease: a lease of this process does not count. */
export function isLeasedElsewhere(lease: Lease | null, nowMs: number): boolean {
  return lease !== null && !isOwnIdentity(lease.owner) && isHeld(lease, nowMs)
}

function createSession({ ledger, clock }: StoreContext, id: string, request: OpenRequest): Session {
  return ledger.sessions.create({
    id,
    agent: request.agent ?? null,
    project: request.project?.id ?? null,
    metadata: request.metadata,
    atMs: clock.nowMs(),
  })
}

function takeLease({ ledger, clock }: StoreContext, { id, key, lease }: Session): Session {
  const nowMs = clock.nowMs()
  if (lease === null || !isHeld(lease, nowMs))
    return ledger.sessions.takeLease(key, { owner: ownIdentity(), expiresAtMs: nowMs + LEASE_MS })
  const { host, pid } = lease.owner
  const until = new Date(lease.expiresAtMs).toISOString()
  throw new SavestateError(
    'SESSION_BUSY',
    `Process ${pid} on ${host} is writing to the session ${JSON.stringify(id)}`,
    { hint: `Wait until it ends. If it is dead, its lease expires at ${until}.` },
  )
}

function refuseOtherProject(session: Session, project: Project | undefined): void {
  if (project === undefined || session.project === null || session.project === project.id) return
  throw new SavestateError(
    'BAD_INPUT',
    `The session ${JSON.stringify(session.id)} belongs to another project`,
    { hint: 'Work in the folder of that project, or choose another id.' },
  )
}
