// A session as callers and `--json` see it.
import { pathText, type Session, type StatusText, statusText } from '../../model/index.js'
import type { StoreContext } from '../operation/context.js'
import { isHeld } from './open-session.js'

export type SessionView = {
  readonly id: string
  readonly agent: string | null
  readonly project: string | null
  readonly status: StatusText
  readonly createdAt: Date
  readonly updatedAt: Date
  readonly head: string | null
  readonly steps: number
  readonly turn: number
  readonly metadata: unknown
  readonly forkedFrom: string | null
  /** In progress, but no process has its lease: the process died, or closed the session without ending it. */
  readonly interrupted: boolean
}

export function viewSession({ ledger, clock }: StoreContext, session: Session): SessionView {
  const project = session.project === null ? undefined : ledger.project(session.project)
  return {
    id: session.id,
    agent: session.agent,
    project: project === undefined ? null : pathText(project.path),
    status: statusText(session.status),
    createdAt: new Date(session.createdAtMs),
    updatedAt: new Date(session.updatedAtMs),
    head: session.head,
    steps: session.nextStep,
    turn: session.turn,
    metadata: session.metadata ?? null,
    forkedFrom: session.forkedFrom,
    interrupted: isInterrupted(session, clock.nowMs()),
  }
}

export function isInterrupted({ status, lease }: Session, nowMs: number): boolean {
  return status.state === 'in_progress' && !isHeld(lease, nowMs)
}
