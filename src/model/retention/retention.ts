// The retention policy: which checkpoints of a project or of a session a prune removes. Pure: the plan is shown before
// anything is removed (I7).
import type { Config } from '../settings/config.js'
import type { CheckpointId } from '../ids.js'
import { longestOf, thinByAge, type ThinReason, type TierRow, type Tiers } from './tiers.js'

/** Options of a prune; the settings provide the rest. */
export type PruneOptions = {
  /** Removes nothing and returns the plan. */
  readonly dryRun?: boolean | undefined
  /** Removes projects and sessions that were not used for longer, under either policy. */
  readonly retentionDays?: number | undefined
  readonly maxSizeMb?: number | undefined
  /** How many automatic checkpoints of each project stay. */
  readonly maxCheckpoints?: number | undefined
  readonly keepOrphans?: boolean | undefined
  /** No user has seen the plan: a project is kept even if its folder is gone. */
  readonly unattended?: boolean | undefined
}

/** The same for the prune of one session. */
export type SessionPruneOptions = Pick<PruneOptions, 'dryRun' | 'maxCheckpoints'> & {
  /** How many of the last checkpoints stay. */
  readonly keepLast?: number | undefined
}

export type RetentionPolicy = {
  /** Null: history does not thin out with age. */
  readonly tiers: Tiers | null
  /** The most automatic checkpoints of a project. */
  readonly maxCheckpoints: number | null
  /** A project or session that was not used for longer is removed. */
  readonly unusedMs: number
  readonly completedMs: number
  /** A session in progress is kept completely if it was used within this time. */
  readonly activeMs: number
  readonly maxBytes: number
  /** Applied to a session only when its own prune is called. */
  readonly milestones: Milestones
}

/** The first checkpoint, the last ones and the latest of each name stay. */
type Milestones = {
  /** A session with no more checkpoints is left alone. */
  readonly over: number
  readonly keepLast: number
  /** The oldest milestones beyond this number are removed too. */
  readonly max: number
}

/**
 * Why a checkpoint is removed: its folder no longer exists; only one per prompt or per day stays; it is too old; there are
 * too many; or the store is too large.
 */
export type DropReason = 'orphan' | ThinReason | 'count' | 'size'

/** Why a checkpoint stays regardless of the limits. */
export type Guard = 'pinned' | 'named' | 'session' | 'thread'

export type Drop = {
  readonly id: CheckpointId
  readonly why: DropReason
  /** Only its files are removed: a session continues from its state. */
  readonly keepsState?: true
}

export type Prunable = TierRow & {
  readonly guard: Guard | null
  /** A session continues from it: it is removed only with the session. */
  readonly isHead: boolean
}

type PrunableProject = {
  /** Its folder is proven to be gone. */
  readonly isOrphan: boolean
  readonly touchedAtMs: number
  /** Newest first. */
  readonly checkpoints: readonly Prunable[]
}

export type PrunableStep = {
  readonly id: CheckpointId
  readonly name: string | null
  readonly pinned: boolean
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** As disks are sold, and as we print sizes. */
const MB = 1_000_000

/** The policy that the settings describe. Limits that a caller gives apply under either setting of `retention`. */
export function retentionPolicy(
  config: Config,
  given: PruneOptions & SessionPruneOptions = {},
): RetentionPolicy {
  const isHermes = config.retention === 'hermes'
  const tiers = isHermes ? null : tiersOf(config)
  const own = tiers === null ? config.retentionDays * DAY_MS : longestOf(tiers)
  const unusedMs = given.retentionDays === undefined ? own : given.retentionDays * DAY_MS
  const completedMs = isHermes ? config.completedRetentionDays * DAY_MS : unusedMs
  const { keepLast = 20, maxCheckpoints = 100 } = given
  return {
    tiers,
    maxCheckpoints: given.maxCheckpoints ?? (isHermes ? config.maxCheckpoints : null),
    unusedMs,
    // A completed session is not kept longer than another.
    completedMs: Math.min(completedMs, unusedMs),
    activeMs: tiers === null ? unusedMs : Math.min(tiers.keepAllMs, unusedMs),
    maxBytes: Math.floor((given.maxSizeMb ?? config.maxSizeMb) * MB),
    milestones: {
      over: given.keepLast ?? Math.min(50, maxCheckpoints),
      keepLast: Math.max(1, Math.min(keepLast, maxCheckpoints - 1)),
      max: maxCheckpoints,
    },
  }
}

function tiersOf({ keepAllHours, keepPromptsDays, keepDailyDays }: Config): Tiers {
  return {
    keepAllMs: keepAllHours * HOUR_MS,
    keepPromptsMs: keepPromptsDays * DAY_MS,
    keepDailyMs: keepDailyDays * DAY_MS,
  }
}

/** Plans what the policy removes from a project. `chooseForSize` applies the size limit of the whole store. */
export function planRetention(
  { isOrphan, touchedAtMs, checkpoints }: PrunableProject,
  { tiers, maxCheckpoints, unusedMs }: RetentionPolicy,
  { nowMs, dropOrphans }: { readonly nowMs: number; readonly dropOrphans: boolean },
): Drop[] {
  const free = checkpoints.filter(({ guard, isHead }) => guard === null && !isHead)
  const all = (why: DropReason) => free.map(({ id }) => ({ id, why }))
  if (isOrphan && dropOrphans) return all('orphan')
  if (nowMs - touchedAtMs > unusedMs) return all('age')
  const heads = new Set(checkpoints.flatMap(({ id, isHead }) => (isHead ? id : [])))
  const thinned =
    tiers === null ? [] : thinByAge(checkpoints, tiers, nowMs).filter(({ id }) => !heads.has(id))
  if (maxCheckpoints === null) return thinned
  const gone = new Set(thinned.map(({ id }) => id))
  // A state is removed with its session.
  const counted = free.filter(({ id, hasFiles }) => hasFiles && !gone.has(id))
  const surplus = counted.slice(maxCheckpoints)
  return [...thinned, ...surplus.map(({ id }) => ({ id, why: 'count' as const }))]
}

/** The same for the steps of a session, newest first. Returns them oldest first. Pinned checkpoints always stay. */
export function planSessionRetention(
  newestFirst: readonly PrunableStep[],
  { milestones: { over, keepLast, max } }: RetentionPolicy,
): Drop[] {
  if (newestFirst.length <= over) return []
  const steps = newestFirst.toReversed()
  const latest = new Map(steps.map(({ name, id }) => [name, id]))
  const kept = steps.filter(
    ({ id, name, pinned }, index) =>
      pinned ||
      index === 0 ||
      index >= steps.length - keepLast ||
      (name !== null && latest.get(name) === id),
  )
  const surplus = kept
    .slice(1, Math.max(1, kept.length - keepLast))
    .filter(({ pinned }) => !pinned)
    .slice(0, Math.max(0, kept.length - max))
  const staying = new Set(kept)
  for (const step of surplus) staying.delete(step)
  return steps.flatMap((step) => (staying.has(step) ? [] : [{ id: step.id, why: 'count' }]))
}
