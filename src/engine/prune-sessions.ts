// Which sessions a prune removes as a whole: those that were not used for long, and, when files alone do not bring the
// store under its limit, finished ones.
import type { Rules, Session, SessionKey } from '../model/index.js'
import type { StoreContext } from './context.js'
import { heldSessions, type ProjectFacts } from './prune-facts.js'

export type SessionDrop = { readonly session: Session; readonly why: 'age' | 'orphan' | 'size' }

/** Never one that a live process writes, nor one with a checkpoint that has to stay. */
export function sessionsByRules(
  context: StoreContext,
  facts: readonly ProjectFacts[],
  { rules, dropOrphans }: { readonly rules: Rules; readonly dropOrphans: boolean },
): SessionDrop[] {
  const nowMs = context.clock.nowMs()
  const factsOf = new Map(facts.map((project) => [project.summary.project.id, project]))
  const points = facts.flatMap((project) => project.points)
  const guarded = new Set(
    points.flatMap(({ guard, session }) => (guard === null ? [] : (session?.key ?? []))),
  )
  const named = new Set(
    points.flatMap(({ guard, session }) => (guard === 'named' ? (session?.key ?? []) : [])),
  )
  return removable(context).flatMap((session): SessionDrop[] => {
    const owner = session.project === null ? undefined : factsOf.get(session.project)
    if (named.has(session.key) || (owner !== undefined && owner.fault !== null)) return []
    if (isSessionTooOld(session, owner?.rules ?? rules, nowMs)) return [{ session, why: 'age' }]
    const isOrphan = dropOrphans && owner?.state === 'orphan' && !guarded.has(session.key)
    return isOrphan ? [{ session, why: 'orphan' }] : []
  })
}

function isSessionTooOld({ status, updatedAtMs }: Session, rules: Rules, nowMs: number): boolean {
  const { completedMs, unusedMs } = rules
  return nowMs - updatedAtMs > (status.state === 'completed' ? completedMs : unusedMs)
}

export type ForSize = {
  /** Sessions that go by another rule. */
  readonly gone: readonly Session[]
  /** Sessions that hold the files of a checkpoint that stays. */
  readonly needed: ReadonlySet<SessionKey>
}

/** Finished sessions that may go for their size, the longest unused first. */
export function sessionsThatMayGo(context: StoreContext, { gone, needed }: ForSize): Session[] {
  return removable(context)
    .filter(({ status }) => status.state !== 'in_progress')
    .filter(({ key }) => !needed.has(key) && !gone.some((session) => session.key === key))
    .sort((a, b) => a.updatedAtMs - b.updatedAtMs)
}

/** The first of these whose states are at least so large. */
export function enoughSessions(
  { ledger }: StoreContext,
  sessions: readonly Session[],
  excessBytes: number,
): { readonly sessions: readonly Session[]; readonly bytes: number } {
  const chosen: Session[] = []
  let bytes = 0
  for (const session of excessBytes <= 0 ? [] : sessions) {
    if (bytes >= excessBytes) break
    chosen.push(session)
    bytes = ledger.pruning.stateBytes(chosen.map(({ key }) => key))
  }
  return { sessions: chosen, bytes }
}

function removable(context: StoreContext): Session[] {
  const { ledger, clock } = context
  const held = heldSessions(context, clock.nowMs())
  const pinned = ledger.pruning.sessionsWithPins()
  return ledger.sessions.list({}).filter(({ key }) => !held.has(key) && !pinned.has(key))
}
