// The context of operations on an open session.
import type { LeaseToken, StateMemory } from '../../ledger/index.js'
import {
  invariant,
  LEASE_MS,
  type Project,
  SavestateError,
  type Session,
} from '../../model/index.js'
import type { SessionShare } from '../sharing/session-share.js'
import type { WriteQueue } from './write-queue.js'
import type { StoreContext } from '../operation/context.js'

export type SessionContext = StoreContext & {
  readonly lease: LeaseToken
  /** False for a writer that shares the session; only deleting the session stops it. */
  readonly isLeased: boolean
  readonly project: Project | undefined
  /** The parts of the last state, so that the next save stores only the difference. */
  readonly memory: StateMemory
  /** Ids of tool calls of this process: running, and decided to run again. */
  readonly running: Set<string>
  readonly retried: Set<string>
  readonly starts: StartTimes
  readonly writeQueue: WriteQueue
  /** Its lease on the remote, in mode wait. */
  readonly share?: SessionShare
}

/** Start times of tool calls. The journal tells two attempts at a call apart by them, so each is used once. */
export class StartTimes {
  #lastMs = 0

  next(nowMs: number): number {
    this.#lastMs = Math.max(nowMs, this.#lastMs + 1)
    return this.#lastMs
  }
}

/** Reads the session from the ledger. Throws if it was deleted. */
export function readSession({ ledger, lease }: SessionContext): Session {
  const session = ledger.sessions.byKey(lease.key)
  if (session === undefined) ledger.sessions.check(lease)
  invariant(session !== undefined, 'a session that was not deleted exists')
  return session
}

/** Every write renews the lease. */
export function leaseExpiryMs({ clock, isLeased }: SessionContext): number | null {
  return isLeased ? clock.nowMs() + LEASE_MS : null
}

/** Throws BAD_INPUT if the session has no project. */
export function projectOf({ project, lease }: SessionContext): Project {
  if (project !== undefined) return project
  throw new SavestateError(
    'BAD_INPUT',
    `The session ${JSON.stringify(lease.id)} belongs to no project, so it has no files`,
    { hint: 'Open it with a project: store.session(id, { project }).' },
  )
}
