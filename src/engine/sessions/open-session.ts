// Opens a session: makes it, or takes the right to write it (I11). A dead owner on this host is replaced at
// once; one elsewhere, or whose death cannot be proven, when its lease has run out.
import { StateMemory } from '../../ledger/index.js'
import {
  type Lease,
  LEASE_MS,
  parseSessionId,
  parseWholeText,
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
  /** False: no lease, for a caller that is not the only writer and orders its writes itself. */
  readonly lease?: boolean | undefined
  /** `known`: one that is there; `new`: one that is not. */
  readonly must?: 'be known' | 'be new' | undefined
}

export function openSession(context: StoreContext, request: OpenRequest): SessionContext {
  return context.ledger.transaction(() => openInTransaction(context, request))
}

export function openInTransaction(context: StoreContext, request: OpenRequest): SessionContext {
  const { ledger } = context
  const id = parseSessionId(request.id)
  if (request.agent !== undefined) parseWholeText(request.agent, 'The name of an agent')
  const isLeased = request.lease ?? true
  const known = ledger.sessions.byId(id)
  if (known === undefined && request.must === 'be known') throw unknownSession(id)
  if (known !== undefined && request.must === 'be new') {
    throw new SavestateError('BAD_INPUT', `A session ${JSON.stringify(id)} already exists`, {
      hint: 'Choose another id.',
    })
  }
  const found = known ?? createSession(context, id, request)
  refuseOtherProject(found, request.project)
  const session = isLeased ? takeLease(context, found) : found
  const project =
    request.project ?? (session.project === null ? undefined : ledger.project(session.project))
  return {
    ...context,
    hold: { key: session.key, id, fence: session.fence },
    isLeased,
    project,
    memory: new StateMemory(),
    running: new Set(),
    retried: new Set(),
    starts: new StartTimes(),
    order: new WriteQueue(id),
  }
}

export function unknownSession(id: string): SavestateError {
  return new SavestateError('SESSION_UNKNOWN', `There is no session ${JSON.stringify(id)}`, {
    hint: '`savestate sessions` lists them.',
  })
}

/** True if a process may be writing: alive, or not known to be dead and within its lease. */
export function isHeld(lease: Lease | null, nowMs: number): boolean {
  return lease !== null && lease.expiresAtMs > nowMs && !isSurelyDead(lease.owner)
}

/** The same for callers that write without a lease: a lease of this process does not count. */
export function isHeldElsewhere(lease: Lease | null, nowMs: number): boolean {
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

function takeLease({ ledger, clock }: StoreContext, session: Session): Session {
  const nowMs = clock.nowMs()
  refuseIfHeld(session, nowMs)
  const lease = { owner: ownIdentity(), expiresAtMs: nowMs + LEASE_MS }
  return ledger.sessions.takeLease(session.key, lease)
}

function refuseIfHeld({ id, lease }: Session, nowMs: number): void {
  if (lease === null || !isHeld(lease, nowMs)) return
  const { host, pid } = lease.owner
  const until = new Date(lease.expiresAtMs).toISOString()
  throw new SavestateError(
    'SESSION_BUSY',
    `The session ${JSON.stringify(id)} is being written by process ${pid} on ${host}`,
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
