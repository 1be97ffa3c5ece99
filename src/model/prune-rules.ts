// Which checkpoints go, by rule. Pure: the plan is shown before anything is done (I7).
import type { CheckpointId } from './ids.js'

/** Why a checkpoint goes: its folder is gone for good, nobody has touched it for long, there are too many, or too much. */
export type DropReason = 'orphan' | 'age' | 'count' | 'size'

/** What keeps a checkpoint whatever the limits say. */
export type Guard = 'pinned' | 'named' | 'session' | 'thread'

export type Prunable = {
  readonly id: CheckpointId
  readonly guard: Guard | null
}

export type PrunableProject = {
  /** Its folder is gone, and that is proven. */
  readonly isOrphan: boolean
  readonly touchedAtMs: number
  /** Newest first. */
  readonly checkpoints: readonly Prunable[]
  readonly maxCheckpoints: number
  readonly retentionMs: number
}

export type Drop = { readonly id: CheckpointId; readonly why: DropReason }

/** By folder, age and count. */
export function dropByRules(
  { isOrphan, touchedAtMs, checkpoints, maxCheckpoints, retentionMs }: PrunableProject,
  { nowMs, dropOrphans }: { readonly nowMs: number; readonly dropOrphans: boolean },
): Drop[] {
  const free = checkpoints.filter(({ guard }) => guard === null)
  const all = (why: DropReason) => free.map(({ id }) => ({ id, why }))
  if (isOrphan && dropOrphans) return all('orphan')
  if (nowMs - touchedAtMs > retentionMs) return all('age')
  return free.slice(maxCheckpoints).map(({ id }) => ({ id, why: 'count' }))
}

/**
 * In which order more would go to come under the size limit: from project to project, the oldest of each, as long
 * as a project keeps at least one. `given`: how many each has given already, so that turns go on where they ended.
 */
export function orderForSize(
  projects: readonly { readonly checkpoints: readonly Prunable[]; readonly given: number }[],
): CheckpointId[] {
  const turns = projects.flatMap(({ checkpoints, given }) => {
    const oldestFirst = checkpoints.filter(({ guard }) => guard === null).reverse()
    const mustStay = checkpoints.length === oldestFirst.length ? 1 : 0
    return oldestFirst
      .slice(0, oldestFirst.length - mustStay)
      .map(({ id }, place) => ({ id, turn: given + place }))
  })
  // Stable: in each turn the projects come in their order.
  return turns.sort((a, b) => a.turn - b.turn).map(({ id }) => id)
}

/** The fewest of `count` steps after which `fits` holds, or all of them. `fits` must not change back. */
export async function fewest(
  count: number,
  fits: (steps: number) => Promise<boolean>,
): Promise<number> {
  let low = 0
  let high = count
  while (low < high) {
    const middle = (low + high) >>> 1
    if (await fits(middle)) high = middle
    else low = middle + 1
  }
  return low
}
