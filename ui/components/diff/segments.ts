// Divides the text of a line into pieces that look the same: by syntax, by changed words, and by spaces at the end.
import { diffWordsWithSpace } from 'diff'
import type { Token } from '../../highlight/tokens.js'
import type { Line } from './rows.js'

export type Segment = {
  readonly text: string
  /** An index of TOKEN_CLASSES. */
  readonly class: number
  /** A word that the other line does not have. */
  readonly isWord: boolean
  /** Spaces at the end of an added line. */
  readonly isTrailing: boolean
}

type Range = { readonly start: number; readonly end: number }

/** Longer lines are cut: a browser needs seconds for the layout of a line of 1 MB. */
export const MAX_SHOWN = 5000
const MAX_COMPARED = 1000
/** Lines with less in common than this are different lines; marking nearly all of their words helps no one. */
const MIN_COMMON = 0.3

const wordCache = new WeakMap<Line, readonly Range[]>()

/** The parts that differ from the line that this one replaces or is replaced by. */
export function changedWords(line: Line): readonly Range[] {
  const known = wordCache.get(line)
  if (known !== undefined) return known
  const { pair } = line
  if (pair === undefined) return []
  const [removed, added] = line.kind === 'removed' ? [line, pair] : [pair, line]
  const [old, fresh] = compareWords(removed.text, added.text)
  wordCache.set(removed, old)
  wordCache.set(added, fresh)
  return line === removed ? old : fresh
}

export function compareWords(
  old: string,
  fresh: string,
): readonly [readonly Range[], readonly Range[]] {
  if (old.length > MAX_COMPARED || fresh.length > MAX_COMPARED) return [[], []]
  const ranges: [Range[], Range[]] = [[], []]
  let [oldAt, freshAt, common] = [0, 0, 0]
  for (const { value, added, removed } of diffWordsWithSpace(old, fresh)) {
    const { length } = value
    if (removed) ranges[0].push({ start: oldAt, end: oldAt + length })
    else if (added) ranges[1].push({ start: freshAt, end: freshAt + length })
    else common += value.trim().length
    if (!added) oldAt += length
    if (!removed) freshAt += length
  }
  const longest = Math.max(old.trim().length, fresh.trim().length)
  return common < longest * MIN_COMMON ? [[], []] : ranges
}

export function segmentsOf(
  text: string,
  {
    tokens,
    words,
    markTrailing,
  }: {
    readonly tokens: readonly Token[]
    readonly words: readonly Range[]
    readonly markTrailing: boolean
  },
): readonly Segment[] {
  const shown = text.slice(0, MAX_SHOWN)
  const trailingAt = markTrailing ? shown.trimEnd().length : shown.length
  const edges = new Set([0, shown.length, trailingAt])
  for (const { end } of tokens) edges.add(end)
  for (const { start, end } of words) edges.add(start).add(end)
  const sorted = [...edges].filter((edge) => edge <= shown.length).sort((a, b) => a - b)
  const segments: Segment[] = []
  let token = 0
  for (const [index, start] of sorted.entries()) {
    const end = sorted[index + 1]
    if (end === undefined) break
    while ((tokens[token]?.end ?? Number.POSITIVE_INFINITY) <= start) token += 1
    segments.push({
      text: shown.slice(start, end),
      class: tokens[token]?.class ?? 0,
      isWord: words.some((word) => word.start <= start && end <= word.end),
      isTrailing: start >= trailingAt,
    })
  }
  return segments
}
