// A warning about paths that a user would expect to be saved.
import type { CheckpointView, SkipReason } from '../../index.js'
import { formatCount, formatNumber } from '../terminal/format-numbers.js'

const SURPRISING: readonly (readonly [SkipReason, string])[] = [
  ['too-large', 'too large'],
  ['unreadable', 'unreadable'],
  ['unstable', 'kept changing'],
  ['reserved', 'with a name that git cannot store'],
  ['special', 'not a file or folder'],
]

/** Undefined if there are none. */
export function skippedText(skipped: CheckpointView['skippedByReason']): string | undefined {
  const counts = SURPRISING.flatMap(([reason, words]) => {
    const count = skipped[reason] ?? 0
    return count === 0 ? [] : [{ count, text: `${formatNumber(count)} ${words}` }]
  })
  if (counts.length === 0) return undefined
  const total = counts.reduce((sum, { count }) => sum + count, 0)
  const reasons = counts.map(({ text }) => text).join(', ')
  return `${formatCount(total, 'path')} could not be saved: ${reasons}.`
}
