// Selects the sessions that a prune removes completely because they were not used for long, or because their project is gone.
import type { RetentionPolicy, Session, SessionKey } from '../model/index.js'
import type { StoreContext } from './context.js'
import type { Point, ProjectFacts } from './prune-facts.js'

export type SessionDrop = { readonly session: Session; readonly why: 'age' | 'orphan' | 'size' }

/** The conditions for removing a session completely. */
export type SessionsInput = {
  readonly facts: readonly ProjectFacts[]
  /** The rules for sessions without a project. */
  readonly unattached: readonly Point[]
  /** Sessions that a live process writes. */
  readonly held: ReadonlySet<SessionKey>
}

/** No live process writes them, none of their checkpoints has to stay, and the settings of their project can be read. */
export function removableSessions(
  { ledger }: StoreContext,
  { facts, unattached, held }: SessionsInput,
): Session[] {
  const points = [...facts.flatMap((project) => project.points), ...unattached]
  const kept = new Set(
    points.flatMap(({ guard, session }) =>
      guard === null || guard === 'session' ? [] : (session?.key ?? []),
    ),
  )
  const faulty = new Set(facts.flatMap((it) => (it.fault === null ? [] : it.summary.project.id)))
  return ledger.sessions
    .list({})
    .filter(({ key, project }) => !held.has(key) && !kept.has(key) && !isIn(faulty, project))
}

function isIn<Id>(ids: ReadonlySet<Id>, id: Id | null): boolean {
  return id !== null && ids.has(id)
}

/** Removable sessions that were not used for too long, or whose project is gone. */
export function sessionsByRules(
  removable: readonly Session[],
  facts: readonly ProjectFacts[],
  { rules, nowMs, dropOrphans }: Request,
): SessionDrop[] {
  const factsOf = new Map(facts.map((project) => [project.summary.project.id, project]))
  const active = new Set(
    facts.flatMap(({ points }) =>
      points.flatMap(({ guard, session }) => (guard === 'session' ? (session?.key ?? []) : [])),
    ),
  )
  return removable.flatMap((session): SessionDrop[] => {
    const owner = session.project === null ? undefined : factsOf.get(session.project)
    if (isSessionTooOld(session, owner?.rules ?? rules, nowMs)) return [{ session, why: 'age' }]
    const isOrphan = dropOrphans && owner?.state === 'orphan' && !active.has(session.key)
    return isOrphan ? [{ session, why: 'orphan' }] : []
  })
}

type Request = {
  readonly rules: RetentionPolicy
  readonly nowMs: number
  readonly dropOrphans: boolean
}

function isSessionTooOld(
  { status, updatedAtMs }: Session,
  rules: RetentionPolicy,
  nowMs: number,
): boolean {
  const { completedMs, unusedMs } = rules
  return nowMs - updatedAtMs > (status.state === 'completed' ? completedMs : unusedMs)
}
