// Whether the policy may remove something of a session, by its ages alone: an administrator prunes a remote without reading most of it.
import type { RetentionPolicy } from './retention.js'
import { longestOf } from './tiers.js'

export type SessionAges = {
  /** When the first checkpoint was made that it still has. */
  readonly fromMs: number
  /** When it was last used. */
  readonly untilMs: number
  readonly checkpoints: number
}

/**
 * A prune removes a checkpoint only when its age has passed a limit of the policy. So if nothing was added since a prune with the same
 * policy, at `sinceMs`, only checkpoints that have passed a limit since then can go. The last checkpoint of a session goes with the session.
 */
export function isRetentionDue(
  { fromMs, untilMs, checkpoints }: SessionAges,
  { tiers, unusedMs, completedMs }: RetentionPolicy,
  { nowMs, sinceMs }: { readonly nowMs: number; readonly sinceMs: number },
): boolean {
  // A number of checkpoints per project depends on all its sessions.
  if (tiers === null) return true
  const { keepAllMs, keepPromptsMs } = tiers
  const ofSession = [unusedMs, completedMs]
  const ofCheckpoints = [keepAllMs, Math.max(keepAllMs, keepPromptsMs), longestOf(tiers)]
  const limits = checkpoints > 1 ? [...ofCheckpoints, ...ofSession] : ofSession
  return limits.some((limitMs) => fromMs + limitMs < nowMs && untilMs + limitMs >= sinceMs)
}
