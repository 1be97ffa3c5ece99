// What a prune would remove, and why. Reads, and changes nothing (I7).
import {
  type CheckpointId,
  type Drop,
  dropByRules,
  fewest,
  type Guard,
  orderForSize,
  type Project,
  type ProjectId,
  type SavestateError,
  type Session,
  type SessionKey,
} from '../model/index.js'
import type { ProjectSummary, PruningFacts } from '../ledger/index.js'
import type { StoreContext } from './context.js'
import type { ProjectState } from './project-state.js'
import { factsOfAll, type ProjectFacts, retentionMsOf } from './prune-facts.js'
import { type PruneInput, withInput } from './prune-input.js'
import { oldSessions, sessionsForSize } from './prune-sessions.js'
import { StoreSizes } from './store-sizes.js'
import { storeSettings } from './settings.js'

export type ProjectPlan = {
  readonly project: Project
  readonly state: ProjectState
  /** Why its folder can neither be found nor taken for removed. */
  readonly unreachable: string | null
  readonly drop: readonly Drop[]
  readonly keep: ReadonlyMap<Guard | 'recent', number>
  readonly freesBytes: number
  /** Nobody needs it any more, as far as was known when this was planned: it is judged as a whole. */
  readonly isPast: boolean
  /** All that it has goes: it is forgotten. */
  readonly isWhole: boolean
  /** It goes because its folder is gone. */
  readonly isOrphaned: boolean
  /** What was known of it when this was planned. */
  readonly summary: ProjectSummary
  /** What was known of its checkpoints when this was planned. */
  readonly known: ReadonlyMap<CheckpointId, PruningFacts>
  /** Its settings cannot be read, so nothing of it is decided. */
  readonly fault: SavestateError | null
}

export type PrunePlan = {
  readonly projects: readonly ProjectPlan[]
  readonly sessions: readonly { readonly session: Session; readonly why: 'age' | 'size' }[]
  readonly sizeBytes: number
  readonly capBytes: number
  /** What the store will take, as far as can be told before. */
  readonly afterBytes: number
}

/** As disks are sold, and as we print sizes. */
const MB = 1_000_000

/**
 * After an earlier round nothing is garbage: the store takes what it takes, whatever the sum of its parts. And only its size is
 * looked at then: what has come to be due by another rule since was not shown to anybody.
 */
export async function planPrune(
  context: StoreContext,
  input: PruneInput,
  earlier: readonly PrunePlan[] = [],
): Promise<PrunePlan> {
  const { home, ledger, clock } = context
  const nowMs = clock.nowMs()
  const config = withInput(storeSettings(home).config, input)
  const facts = await factsOfAll(context, { nowMs, input, fallback: config })
  const isFirst = earlier.length === 0
  const old = isFirst ? oldSessions(context, facts, config) : []
  const dropOrphans = input.keepOrphans !== true && input.unattended !== true
  const rules = new Map(
    facts.map((project) => [project, isFirst ? byRules(project, { old, nowMs, dropOrphans }) : []]),
  )
  const capBytes = Math.floor(config.maxSizeMb * MB)
  const sizes = await StoreSizes.take(context)
  const commits = new Map(facts.flatMap(({ points }) => points.map((it) => [it.id, it.commit])))
  const spare = isFirst ? 0 : sizes.total - (await sizes.after(commits, new Set()))
  const gone = new Set([...rules.values()].flatMap((drop) => drop.map(({ id }) => id)))
  const left = facts.filter(({ fault }) => fault === null)
  const order = orderForSize(
    left.map(({ points, summary }) => ({
      checkpoints: points.filter(({ id }) => !gone.has(id)),
      given: givenForSize(earlier, summary.project.id),
    })),
  )
  const isGoneAfter = (steps: number) => new Set([...gone, ...order.slice(0, steps)])
  const stateBytes = ledger.pruning.stateBytes(old.map(({ key }) => key))
  const bytesAfter = async (steps: number) =>
    spare + (await sizes.after(commits, isGoneAfter(steps))) - stateBytes
  const steps = await fewest(order.length, async (count) => (await bytesAfter(count)) <= capBytes)
  const forSize = new Set(order.slice(0, steps))
  const allGone = isGoneAfter(steps)
  const fileBytes = await bytesAfter(steps)
  const more = sessionsForSize(context, {
    old,
    excess: fileBytes - capBytes,
    needed: sessionsOf(facts, allGone),
  })
  const live = await sizes.live(commits, allGone)
  const projects: ProjectPlan[] = []
  for (const [project, drop] of rules) {
    const oldest = project.points.filter(({ id }) => forSize.has(id))
    const isOver = isFirst && isPast(project, { nowMs, dropOrphans })
    const all = [...drop, ...oldest.map(({ id }) => ({ id, why: 'size' as const }))]
    projects.push({
      project: project.summary.project,
      state: project.state,
      unreachable: project.unreachable,
      drop: all,
      keep: kept(project, new Set(all.map(({ id }) => id))),
      freesBytes: await sizes.freed(
        all.flatMap(({ id }) => commits.get(id) ?? []),
        live,
      ),
      isPast: isOver,
      isWhole: isOver && all.length === project.points.length,
      isOrphaned: dropOrphans && project.state === 'orphan',
      summary: project.summary,
      known: new Map(project.points.map((point) => [point.id, point])),
      fault: project.fault,
    })
  }
  return {
    projects,
    sessions: [
      ...old.map((session) => ({ session, why: 'age' as const })),
      ...more.sessions.map((session) => ({ session, why: 'size' as const })),
    ],
    sizeBytes: sizes.total,
    capBytes,
    afterBytes: Math.max(0, fileBytes - more.bytes),
  }
}

/** How many it has lost in earlier rounds. */
function givenForSize(earlier: readonly PrunePlan[], id: ProjectId): number {
  return earlier
    .flatMap(({ projects }) => projects.filter(({ project }) => project.id === id))
    .flatMap(({ drop }) => drop.filter(({ why }) => why === 'size')).length
}

type When = { readonly nowMs: number; readonly dropOrphans: boolean }

function byRules(
  { state, summary, points, config, fault }: ProjectFacts,
  { old, ...when }: When & { readonly old: readonly Session[] },
): Drop[] {
  if (fault !== null) return []
  // They go with their sessions.
  const ends = points.filter(({ session }) => old.some(({ key }) => key === session?.key))
  const drop = dropByRules(
    {
      isOrphan: state === 'orphan',
      touchedAtMs: summary.touchedAtMs,
      checkpoints: points.filter((point) => !ends.includes(point)),
      maxCheckpoints: config.maxCheckpoints,
      retentionMs: retentionMsOf(config),
    },
    when,
  )
  return [...ends.map(({ id }) => ({ id, why: 'age' as const })), ...drop]
}

/** Nobody needs the project itself any more. */
function isPast(
  { state, summary, config, fault }: ProjectFacts,
  { nowMs, dropOrphans }: When,
): boolean {
  if (fault !== null) return false
  const isStale = nowMs - summary.touchedAtMs > retentionMsOf(config)
  return isStale || (state === 'orphan' && dropOrphans)
}

/** Those with a checkpoint that is to stay. */
function sessionsOf(
  facts: readonly ProjectFacts[],
  gone: ReadonlySet<CheckpointId>,
): Set<SessionKey> {
  const points = facts.flatMap((project) => project.points).filter(({ id }) => !gone.has(id))
  return new Set(points.flatMap(({ session }) => session?.key ?? []))
}

function kept(
  { points }: ProjectFacts,
  gone: ReadonlySet<CheckpointId>,
): Map<Guard | 'recent', number> {
  const counts = new Map<Guard | 'recent', number>()
  for (const { id, guard } of points) {
    if (gone.has(id)) continue
    counts.set(guard ?? 'recent', (counts.get(guard ?? 'recent') ?? 0) + 1)
  }
  return counts
}
