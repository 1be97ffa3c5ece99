// Which segments a base replaces. So a host that has the log up to one of them knows whether the base continues it, or was written where a
// failover had lost that segment (docs/internals/shared.md#divergence).
import type { SegmentContent, SegmentMark } from './segment.js'

type Segment = { readonly hash: string; readonly content: SegmentContent }

/** Eight bytes: they tell histories of one log apart, and prove nothing against an attacker. */
const MARK_CHARS = 16

/** The list for a base in place of these segments, which are all that the log has. */
export function replacedBy(segments: readonly Segment[]): readonly SegmentMark[] {
  const lastBase = segments.findLastIndex(({ content }) => content.isBase)
  const used = segments.slice(Math.max(lastBase, 0))
  return [...(used[0]?.content.replaced ?? []), ...used.map(({ hash }) => markOf(hash))]
}

/** Whether these segments, read after the one with this hash, continue it. A log that was created again replaces what was deleted. */
export function areAfter(segments: readonly Segment[], hash: string): boolean {
  const base = segments.findLast(({ content }) => content.isBase)
  const replaced = base?.content.replaced
  return replaced === undefined || replaced.includes(markOf(hash))
}

function markOf(hash: string): SegmentMark {
  return hash.slice(0, MARK_CHARS)
}
