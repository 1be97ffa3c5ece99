// Which checkpoints go, by rule. Pure: the plan is shown before anything is done (I7).
import type { Config } from './config.js'
import type { CheckpointId } from './ids.js'
import { longestOf, thinByAge, type ThinReason, type TierRow, type Tiers } from './tiers.js'

/**
 * Why a checkpoint goes: its folder is gone for good; only one per prompt or per day is left; it is too old; there are
 * too many; or the store is too large.
 */
export type DropReason = 'orphan' | ThinReason | 'count' | 'size'

/** What keeps a checkpoint whatever the limits say. */
export type Guard = 'pinned' | 'named' | 'session' | 'thread'

export type Prunable = TierRow & {
  readonly guard: Guard | null
  /** A session continues from it: it goes only with the session. */
  readonly isHead: boolean
}

export type Rules = {
  /** Null: history does not thin out. */
  readonly tiers: Tiers | null
  /** Automatic checkpoints of a project. */
  readonly maxCheckpoints: number | null
  /** A project or session that was not used for longer goes. */
  readonly unusedMs: number
  /** The same for completed sessions. */
  readonly completedMs: number
  /** A session in progress is kept as a whole if it was used within this time. */
  readonly activeMs: number
}

export type PrunableProject = {
  /** Its folder is gone, and that is proven. */
  readonly isOrphan: boolean
  readonly touchedAtMs: number
  /** Newest first. */
  readonly checkpoints: readonly Prunable[]
}

export type Drop = {
  readonly id: CheckpointId
  readonly why: DropReason
  /** Only its files go: a session continues from its state. */
  readonly keepsState?: true
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** The rules that settings describe. Limits that a caller gives count under either policy. */
export function rulesOf(
  config: Config,
  given: {
    readonly maxCheckpoints?: number | undefined
    readonly retentionDays?: number | undefined
  } = {},
): Rules {
  const isHermes = config.retention === 'hermes'
  const tiers = isHermes ? null : tiersOf(config)
  const own = tiers === null ? config.retentionDays * DAY_MS : longestOf(tiers)
  const unusedMs = given.retentionDays === undefined ? own : given.retentionDays * DAY_MS
  const completedMs = isHermes ? config.completedRetentionDays * DAY_MS : unusedMs
  return {
    tiers,
    maxCheckpoints: given.maxCheckpoints ?? (isHermes ? config.maxCheckpoints : null),
    unusedMs,
    // A completed session is not kept longer than another.
    completedMs: Math.min(completedMs, unusedMs),
    activeMs: tiers === null ? unusedMs : Math.min(tiers.keepAllMs, unusedMs),
  }
}

function tiersOf({ keepAllHours, keepPromptsDays, keepDailyDays }: Config): Tiers {
  return {
    keepAllMs: keepAllHours * HOUR_MS,
    keepPromptsMs: keepPromptsDays * DAY_MS,
    keepDailyMs: keepDailyDays * DAY_MS,
  }
}

/** By folder, age and count. */
export function dropByRules(
  { isOrphan, touchedAtMs, checkpoints }: PrunableProject,
  rules: Rules,
  { nowMs, dropOrphans }: { readonly nowMs: number; readonly dropOrphans: boolean },
): Drop[] {
  const free = checkpoints.filter(({ guard, isHead }) => guard === null && !isHead)
  const all = (why: DropReason) => free.map(({ id }) => ({ id, why }))
  if (isOrphan && dropOrphans) return all('orphan')
  if (nowMs - touchedAtMs > rules.unusedMs) return all('age')
  const heads = new Set(checkpoints.flatMap(({ id, isHead }) => (isHead ? id : [])))
  const thinned =
    rules.tiers === null
      ? []
      : thinByAge(checkpoints, rules.tiers, nowMs).filter(({ id }) => !heads.has(id))
  if (rules.maxCheckpoints === null) return thinned
  const gone = new Set(thinned.map(({ id }) => id))
  // A state goes with its session.
  const counted = free.filter(({ id, hasFiles }) => hasFiles && !gone.has(id))
  const surplus = counted.slice(rules.maxCheckpoints)
  return [...thinned, ...surplus.map(({ id }) => ({ id, why: 'count' as const }))]
}
