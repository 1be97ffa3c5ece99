// Plans a prune: what it removes and why. Reads only (I7).
import {
  type CheckpointId,
  type Drop,
  type Guard,
  type ObjectId,
  planRetention,
  type PruneOptions,
  retentionPolicy,
  type RetentionPolicy,
  type SavestateError,
  type Session,
  type SessionKey,
} from '../../model/index.js'
import type { ProjectSummary, PruningRow } from '../../ledger/index.js'
import type { StoreContext } from '../operation/context.js'
import { isNeededByUndo } from './drop.js'
import {
  readProjects,
  leasedSessions,
  type Point,
  readPoints,
  type PruneProject,
} from './prune-candidates.js'
import type { PrunePointsView, PruneProjectView } from './prune-result.js'
import { NOTHING_FOR_SIZE, planSize, type SizePlan } from './prune-size.js'
import { storeSettings } from '../store/settings.js'
import { type LargeProject, measureStore } from '../store/sizes.js'

export type SessionDrop = { readonly session: Session; readonly why: 'age' | 'orphan' | 'size' }

/** The part of a plan for one project, or for the sessions without a project. */
export type PointsPlan = PrunePointsView & {
  /** The checkpoints as they were when this was planned. */
  readonly known: ReadonlyMap<CheckpointId, PruningRow>
}

export type ProjectPlan = PointsPlan &
  Omit<PruneProjectView, 'id' | 'path'> & {
    /** It was not used for long, or its folder is gone. */
    readonly isPast: boolean
    /** All its checkpoints are removed, and the project with them. */
    readonly isWhole: boolean
    /** It is removed because its folder is gone. */
    readonly isOrphaned: boolean
    readonly summary: ProjectSummary
    /** Its settings cannot be read, so nothing is removed. */
    readonly fault: SavestateError | null
  }

export type PrunePlan = {
  readonly projects: readonly ProjectPlan[]
  /** The checkpoints of sessions without a project. */
  readonly unattached: PointsPlan
  readonly sessions: readonly SessionDrop[]
  readonly sizeBytes: number
  readonly capBytes: number
  /** The estimated size of the store after the prune. */
  readonly afterBytes: number
  /** The largest items that must stay, if the store cannot be brought under its limit. */
  readonly largest: readonly LargeProject[]
}

/**
 * The first round applies all rules. Later rounds remove for size only, so that nothing else goes that the first plan did not show.
 * After the first round nothing is garbage, so they use the measured size instead of an estimate.
 */
export async function planPrune(
  context: StoreContext,
  input: PruneOptions,
  { isFirst = true }: { readonly isFirst?: boolean } = {},
): Promise<PrunePlan> {
  const { home, clock, ledger } = context
  const nowMs = clock.nowMs()
  const { config } = storeSettings(home)
  const leased = leasedSessions(context, nowMs)
  const projects = await readProjects(context, { nowMs, input, leased, fallback: config })
  const dropOrphans = input.keepOrphans !== true && input.unattended !== true
  const rules = retentionPolicy(config, input)
  const loose = readPoints(context, null, { rules, nowMs, touchedAtMs: nowMs, leased })
  const removable = removableSessions(context, { projects, loose, leased })
  const ends = isFirst ? unusedSessions(removable, projects, { rules, nowMs, dropOrphans }) : []
  const whyEnds = new Map(ends.map(({ session, why }) => [session.key, why]))
  const when = { nowMs, dropOrphans, ends: whyEnds }
  const byRules = new Map(projects.map((it) => [it, isFirst ? planProject(it, when) : []]))
  // Without a project there is no folder that could be gone, and no last use other than that of the session.
  const withoutProject = { isOrphan: false, touchedAtMs: nowMs, points: loose, rules }
  const unattached = isFirst ? planPoints(withoutProject, when) : []
  const gone = new Set([...byRules.values(), unattached].flatMap((it) => it.map(({ id }) => id)))
  const sizes = await measureStore(context)
  const commitsLeft = (without: ReadonlySet<CheckpointId>) =>
    projects.flatMap(({ points }) =>
      points.flatMap((it) => (without.has(it.id) ? [] : commitOf(it))),
    )
  const live = await sizes.reached(commitsLeft(gone))
  const liveBytes = sizes.sumOf(live)
  const stateBytes = ledger.pruning.stateBytes({
    sessions: ends.map(({ session }) => session.key),
  })
  const restBytes = isFirst ? sizes.rest : sizes.total - liveBytes
  const capBytes = rules.maxBytes
  const afterRules = restBytes - stateBytes + liveBytes
  const forSize: SizePlan =
    afterRules <= capBytes
      ? { ...NOTHING_FOR_SIZE, afterBytes: afterRules }
      : await planSize(context, {
          projects,
          unattached: loose,
          gone,
          removable: removable.filter(({ key }) => !when.ends.has(key)),
          sizes,
          restBytes,
          capBytes,
        })
  const allGone = new Set([...gone, ...forSize.ids])
  const finallyLive = forSize.ids.size === 0 ? live : await sizes.reached(commitsLeft(allGone))
  const plans: ProjectPlan[] = []
  for (const [project, drop] of byRules) {
    const { summary, state, unreachable, fault, points } = project
    const plan = planOf(points, [...drop, ...dropsForSize(points, forSize)])
    const commits = points.flatMap((it) => (allGone.has(it.id) ? commitOf(it) : []))
    const isPast = isFirst && isPastUse(project, when)
    plans.push({
      ...plan,
      state,
      unreachable,
      freesBytes: await sizes.freed(commits, finallyLive),
      forgetsUndo: isNeededByUndo(context, summary.project, plan.drop),
      isPast,
      isWhole: isPast && plan.drop.length === points.length,
      isOrphaned: dropOrphans && state === 'orphan',
      summary,
      fault,
    })
  }
  return {
    projects: plans,
    unattached: planOf(loose, [...unattached, ...dropsForSize(loose, forSize)]),
    sessions: [...ends, ...forSize.sessions.map((session) => ({ session, why: 'size' as const }))],
    sizeBytes: sizes.total,
    capBytes,
    afterBytes: Math.max(0, forSize.afterBytes),
    largest: forSize.largest,
  }
}

/** Sessions without a live lease and without protected checkpoints, whose project has valid settings. */
function removableSessions(
  { ledger }: StoreContext,
  {
    projects,
    loose,
    leased,
  }: {
    readonly projects: readonly PruneProject[]
    readonly loose: readonly Point[]
    readonly leased: ReadonlySet<SessionKey>
  },
): Session[] {
  const points = [...projects.flatMap((project) => project.points), ...loose]
  const kept = new Set(
    points.flatMap(({ guard, session }) =>
      guard === null || guard === 'session' ? [] : (session?.key ?? []),
    ),
  )
  const faulty = new Set<string | null>(
    projects.flatMap((it) => (it.fault === null ? [] : it.summary.project.id)),
  )
  return ledger.sessions
    .list({})
    .filter(({ key, project }) => !leased.has(key) && !kept.has(key) && !faulty.has(project))
}

/** Sessions that were unused for too long, or whose project is gone. `rules` apply to sessions without a project. */
function unusedSessions(
  removable: readonly Session[],
  projects: readonly PruneProject[],
  { rules, nowMs, dropOrphans }: Omit<When, 'ends'> & { readonly rules: RetentionPolicy },
): SessionDrop[] {
  const projectOf = new Map<string | null, PruneProject>(
    projects.map((project) => [project.summary.project.id, project]),
  )
  const active = new Set(
    projects.flatMap(({ points }) =>
      points.flatMap(({ guard, session }) => (guard === 'session' ? (session?.key ?? []) : [])),
    ),
  )
  return removable.flatMap((session): SessionDrop[] => {
    const { key, status, updatedAtMs } = session
    const owner = projectOf.get(session.project)
    const { completedMs, unusedMs } = owner?.rules ?? rules
    const longestMs = status.state === 'completed' ? completedMs : unusedMs
    if (nowMs - updatedAtMs > longestMs) return [{ session, why: 'age' }]
    const isOrphan = dropOrphans && owner?.state === 'orphan' && !active.has(key)
    return isOrphan ? [{ session, why: 'orphan' }] : []
  })
}

type Ends = ReadonlyMap<SessionKey, SessionDrop['why']>
type When = { readonly nowMs: number; readonly dropOrphans: boolean; readonly ends: Ends }

function commitOf({ commit }: Point): readonly ObjectId[] {
  return commit === null ? [] : [commit]
}

function planProject({ fault, state, summary, ...rest }: PruneProject, when: When): Drop[] {
  if (fault !== null) return []
  const { touchedAtMs } = summary
  return planPoints({ ...rest, touchedAtMs, isOrphan: state === 'orphan' }, when)
}

function planPoints(
  {
    points,
    rules,
    isOrphan,
    touchedAtMs,
  }: Pick<PruneProject, 'points' | 'rules'> & {
    readonly isOrphan: boolean
    readonly touchedAtMs: number
  },
  { ends, ...when }: When,
): Drop[] {
  const [withSessions, checkpoints] = splitByEnds(points, ends)
  return [...withSessions, ...planRetention({ isOrphan, touchedAtMs, checkpoints }, rules, when)]
}

/** Splits off the checkpoints that are removed with their session. Files that an undo needs outlive it (`Sessions.delete`). */
function splitByEnds(points: readonly Point[], ends: Ends): [Drop[], Point[]] {
  const whyOf = ({ session, isInOperation, hasFiles }: Point) =>
    session === null || (isInOperation && hasFiles) ? undefined : ends.get(session.key)
  const drops = points.flatMap((point) => {
    const why = whyOf(point)
    return why === undefined ? [] : [{ id: point.id, why }]
  })
  return [drops, points.filter((point) => whyOf(point) === undefined)]
}

function dropsForSize(points: readonly Point[], { ids, heads }: SizePlan): Drop[] {
  const chosen = points.filter(({ id }) => ids.has(id))
  return chosen.map(({ id }) => ({
    id,
    why: 'size',
    ...(heads.has(id) ? { keepsState: true } : {}),
  }))
}

function isPastUse(
  { state, summary, rules, fault }: PruneProject,
  { nowMs, dropOrphans }: When,
): boolean {
  if (fault !== null) return false
  const isStale = nowMs - summary.touchedAtMs > rules.unusedMs
  return isStale || (state === 'orphan' && dropOrphans)
}

function planOf(points: readonly Point[], drop: readonly Drop[]): PointsPlan {
  const gone = new Set(drop.flatMap(({ id, keepsState }) => (keepsState === true ? [] : id)))
  const keep: Partial<Record<Guard | 'recent', number>> = {}
  for (const { id, guard } of points)
    if (!gone.has(id)) keep[guard ?? 'recent'] = (keep[guard ?? 'recent'] ?? 0) + 1
  return { drop, keep, known: new Map(points.map((point) => [point.id, point])) }
}
