// An open session, as its operations see it.
import type { LeaseToken, StateMemory } from '../../ledger/index.js'
import {
  invariant,
  LEASE_MS,
  type Project,
  SavestateError,
  type Session,
} from '../../model/index.js'
import type { WriteQueue } from './write-queue.js'
import type { StoreContext } from '../operation/context.js'

export type SessionContext = StoreContext & {
  readonly hold: LeaseToken
  /** False for a writer that is not alone, and is fenced by nothing but deletion. */
  readonly isLeased: boolean
  readonly project: Project | undefined
  /** What the last state consisted of, so that the next is stored by its difference. */
  readonly memory: StateMemory
  /** Tool calls of this process: those that run, and those that may run again. */
  readonly running: Set<string>
  readonly retried: Set<string>
  readonly starts: StartTimes
  /** Of the calls that write. */
  readonly order: WriteQueue
}

/** Start times of tool calls. The journal tells two attempts at a call apart by them, so each is used once. */
export class StartTimes {
  #lastMs = 0

  next(nowMs: number): number {
    this.#lastMs = Math.max(nowMs, this.#lastMs + 1)
    return this.#lastMs
  }
}

/** The session as the ledger has it now. */
export function sessionNow({ ledger, hold }: SessionContext): Session {
  const session = ledger.sessions.byKey(hold.key)
  if (session === undefined) ledger.sessions.check(hold)
  invariant(session !== undefined, 'a session that was not deleted is there')
  return session
}

/** When the lease ends if nothing more is heard; every write renews it. */
export function leaseExpiryMs({ clock, isLeased }: SessionContext): number | null {
  return isLeased ? clock.nowMs() + LEASE_MS : null
}

/** For what needs a folder. */
export function projectOf({ project, hold }: SessionContext): Project {
  if (project !== undefined) return project
  throw new SavestateError(
    'BAD_INPUT',
    `The session ${JSON.stringify(hold.id)} belongs to no project, so it has no files`,
    { hint: 'Open it with a project: store.session(id, { project }).' },
  )
}
