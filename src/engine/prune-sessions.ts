// Which sessions a prune removes: those that nobody has touched for long, and, when files alone do not bring the
// store under its limit, finished ones.
import type { Config, Session, SessionKey } from '../model/index.js'
import type { StoreContext } from './context.js'
import { isHeld } from './open-session.js'
import { isSessionTooOld, type ProjectFacts } from './prune-facts.js'

/** Never one that a live process holds, nor one with a checkpoint that has to stay. */
export function oldSessions(
  context: StoreContext,
  facts: readonly ProjectFacts[],
  fallback: Config,
): Session[] {
  const nowMs = context.clock.nowMs()
  const factsOf = new Map(facts.map((project) => [project.summary.project.id, project]))
  const named = new Set(
    facts
      .flatMap(({ points }) => points)
      .flatMap(({ guard, session }) => (guard === 'named' ? (session?.key ?? []) : [])),
  )
  return removable(context).filter(({ key, project, status, updatedAtMs }) => {
    const owner = project === null ? undefined : factsOf.get(project)
    if (named.has(key) || (owner !== undefined && owner.fault !== null)) return false
    const config = owner?.config ?? fallback
    return isSessionTooOld({ status: status.state, updatedAtMs }, { config, nowMs })
  })
}

/** The longest untouched first. `needed` have the last checkpoint of a project, or one that has to stay. */
export function sessionsForSize(
  context: StoreContext,
  {
    old,
    excess,
    needed,
  }: {
    readonly old: readonly Session[]
    readonly excess: number
    readonly needed: ReadonlySet<SessionKey>
  },
): { readonly sessions: readonly Session[]; readonly bytes: number } {
  if (excess <= 0) return { sessions: [], bytes: 0 }
  const { pruning } = context.ledger
  const finished = removable(context)
    .filter(({ status }) => status.state !== 'in_progress')
    .filter(({ key }) => !needed.has(key) && !old.some((session) => session.key === key))
    .sort((a, b) => a.updatedAtMs - b.updatedAtMs)
  const chosen: Session[] = []
  let bytes = 0
  for (const session of finished) {
    if (bytes >= excess) break
    chosen.push(session)
    bytes = pruning.stateBytes(chosen.map(({ key }) => key))
  }
  return { sessions: chosen, bytes }
}

function removable({ ledger, clock }: StoreContext): Session[] {
  const nowMs = clock.nowMs()
  return ledger.sessions
    .list({})
    .filter(({ lease }) => !isHeld(lease, nowMs))
    .filter(({ key }) => !ledger.checkpoints.list({ session: key }).some(({ pinned }) => pinned))
}
