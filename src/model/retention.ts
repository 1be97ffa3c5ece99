// Which checkpoints of a session to drop, by rule. Pure: the plan is shown before it is done (I7).
import type { CheckpointId } from './ids.js'
import type { StatusWord } from './session.js'

export type Retained = {
  readonly id: CheckpointId
  readonly name: string | null
  readonly pinned: boolean
}

export type Milestones = {
  /** Nothing is dropped up to this many. */
  readonly over: number
  readonly keepLast: number
  /** Of what the rule keeps, the oldest go beyond this many. */
  readonly max: number
}

/** Over 50: the first, the last 20 and the latest of each name stay; never more than 100. */
export const MILESTONES: Milestones = { over: 50, keepLast: 20, max: 100 }

/** What the rule drops; `checkpoints` from the oldest to the newest. Pinned ones always stay. */
export function dropByMilestones(
  checkpoints: readonly Retained[],
  rule: Milestones = MILESTONES,
): CheckpointId[] {
  if (checkpoints.length <= rule.over) return []
  const latest = new Map(checkpoints.map(({ name, id }) => [name, id]))
  const isKept = (checkpoint: Retained, place: number) =>
    checkpoint.pinned ||
    place === 0 ||
    place >= checkpoints.length - rule.keepLast ||
    (checkpoint.name !== null && latest.get(checkpoint.name) === checkpoint.id)
  const kept = checkpoints.filter(isKept)
  const surplus = new Set(
    kept
      .slice(1, Math.max(1, kept.length - rule.keepLast))
      .filter(({ pinned }) => !pinned)
      .slice(0, Math.max(0, kept.length - rule.max)),
  )
  const survivors = new Set(kept.filter((checkpoint) => !surplus.has(checkpoint)))
  return checkpoints.filter((checkpoint) => !survivors.has(checkpoint)).map(({ id }) => id)
}

export type Ages = { readonly untouchedMs: number; readonly completedMs: number }

const DAY_MS = 86_400_000

/** A session goes 7 days after its last touch, a completed one after 1. */
export const AGES: Ages = { untouchedMs: 7 * DAY_MS, completedMs: DAY_MS }

export function isTooOld(
  session: { readonly status: StatusWord; readonly updatedAtMs: number },
  nowMs: number,
  rule: Ages = AGES,
): boolean {
  const age = nowMs - session.updatedAtMs
  return age > (session.status === 'completed' ? rule.completedMs : rule.untouchedMs)
}
