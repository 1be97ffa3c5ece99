// Counts changed lines when all diff algorithms must agree: all differences are in one range, and no line in the range occurs in
// both versions. Most edits are like that. For all others we ask git, whose numbers users know.
import { hasNul, linesOf } from './count-lines.js'

export type LineChanges = { readonly insertions: number; readonly deletions: number }

const NEWLINE = 0x0a
/** Git counts larger ranges: searching them for common lines takes memory. */
const MAX_RANGE_BYTES = 64 << 10
const NONE: LineChanges = { insertions: 0, deletions: 0 }

/** Undefined if git's result is uncertain. */
export function lineChanges(before: Buffer, after: Buffer): LineChanges | undefined {
  // Git counts no lines if either content is binary.
  if (hasNul(before) || hasNul(after)) return NONE
  const [start, end] = equalEnds(before, after)
  const removed = before.subarray(start, before.length - end)
  const added = after.subarray(start, after.length - end)
  if (removed.length > 0 && added.length > 0) {
    if (removed.length + added.length > MAX_RANGE_BYTES) return undefined
    const known = new Set(linesIn(removed))
    if (linesIn(added).some((line) => known.has(line))) return undefined
  }
  return { insertions: linesOf(added), deletions: linesOf(removed) }
}

/** How many bytes are equal at the start and at the end, in whole lines. */
function equalEnds(before: Buffer, after: Buffer): readonly [start: number, end: number] {
  const most = Math.min(before.length, after.length)
  let start = 0
  while (start < most && before[start] === after[start]) start += 1
  if (start < before.length || start < after.length) start = lineStart(before, start)
  let end = 0
  const [a, b] = [before.length - 1, after.length - 1]
  while (end < most - start && before[a - end] === after[b - end]) end += 1
  // The equal end must start after a newline in both.
  const isWhole = (content: Buffer) =>
    content.length - end === start || content[content.length - end - 1] === NEWLINE
  while (end > 0 && !(isWhole(before) && isWhole(after))) end -= 1
  return [start, end]
}

function lineStart(content: Buffer, at: number): number {
  return at === 0 ? 0 : content.lastIndexOf(NEWLINE, at - 1) + 1
}

/** Including line ends; the last line may have none. */
function linesIn(content: Buffer): string[] {
  return content.toString('latin1').match(/[^\n]*\n|[^\n]+$/g) ?? []
}
