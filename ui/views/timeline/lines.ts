// The lines of the timeline, from its groups and from what the user has folded. Rows have two heights, so that the position of each
// line is a sum and nothing is measured. Pure.
import type { Row } from '../../../src/ui/api.js'
import { type Group, rowOfItem, type SessionGroup, type Turn } from './groups.js'

/** Where a line is in the tree, for screen readers. */
type Place = { readonly level: number; readonly position: number; readonly setSize: number }

export type Line = { readonly key: string; readonly day: string } & (
  | { readonly type: 'day'; readonly at: string }
  | (Place &
      (
        | { readonly type: 'session'; readonly group: SessionGroup; readonly isOpen: boolean }
        | {
            readonly type: 'card'
            readonly row: Row
            readonly turn: Turn
            readonly isOpen: boolean
          }
        | { readonly type: 'more'; readonly turn: Turn; readonly hidden: number }
        | {
            readonly type: 'step'
            readonly row: Row
            readonly turn: Turn
            readonly isLast: boolean
          }
        | { readonly type: 'loose'; readonly row: Row }
        | { readonly type: 'single'; readonly row: Row }
      ))
)
export type LineOf<Type extends Line['type']> = Extract<Line, { readonly type: Type }>

/** By the key of a group or turn. Without an entry a session is open, and a turn shows its last steps. */
export type Folds = ReadonlyMap<string, 'open' | 'closed'>

export const SHOWN_STEPS = 4

export function linesOf(groups: readonly Group[], folds: Folds): readonly Line[] {
  const lines: Line[] = []
  let day = ''
  const startDay = (row: Row): string => {
    const next = dayOf(row.createdAt)
    if (next !== day) lines.push({ type: 'day', key: `d:${next}`, day: next, at: row.createdAt })
    day = next
    return next
  }
  groups.forEach((group, at) => {
    const place = { level: 1, position: at + 1, setSize: groups.length }
    if (group.type === 'single') {
      const { key, row } = group
      lines.push({ type: 'single', key, day: startDay(row), row, ...place })
      return
    }
    const isOpen = folds.get(group.key) !== 'closed'
    const [first] = group.items
    if (first === undefined) return
    const shown = startDay(rowOfItem(first))
    lines.push({ type: 'session', key: group.key, day: shown, group, isOpen, ...place })
    if (!isOpen) return
    group.items.forEach((item, index) => {
      const inside = { level: 2, position: index + 1, setSize: group.items.length }
      const own = startDay(rowOfItem(item))
      if (item.type === 'loose')
        lines.push({ type: 'loose', key: item.key, day: own, row: item.row, ...inside })
      else lines.push(...turnLines(item, { ...inside, day: own, fold: folds.get(item.key) }))
    })
  })
  return lines
}

function turnLines(
  turn: Turn,
  {
    day,
    fold,
    ...place
  }: Place & { readonly day: string; readonly fold: 'open' | 'closed' | undefined },
): readonly Line[] {
  const { key, prompt, steps } = turn
  const isOpen = fold !== 'closed' && steps.length > 0
  const card: Line = { type: 'card', key: `t:${key}`, day, row: prompt, turn, isOpen, ...place }
  if (!isOpen) return [card]
  const hidden = fold === 'open' || steps.length <= SHOWN_STEPS ? 0 : steps.length - SHOWN_STEPS
  const setSize = steps.length - hidden + (hidden > 0 ? 1 : 0)
  const more: readonly Line[] =
    hidden === 0
      ? []
      : [{ type: 'more', key: `m:${key}`, day, turn, hidden, level: 3, position: 1, setSize }]
  const shown = steps.slice(hidden).map((row, index): Line => {
    const position = index + 1 + more.length
    const isLast = position === setSize
    return { type: 'step', key: row.id, day, row, turn, isLast, level: 3, position, setSize }
  })
  return [card, ...more, ...shown]
}

/** The next fold of a line that is opened or closed; undefined if it has no other. */
export function nextFold(
  line: Line,
  to: 'open' | 'closed',
): readonly [string, 'open' | 'closed' | undefined] | undefined {
  if (line.type === 'session')
    return line.isOpen === (to === 'open') ? undefined : [line.group.key, to]
  if (line.type === 'more') return to === 'open' ? [line.turn.key, 'open'] : undefined
  if (line.type !== 'card' || line.turn.steps.length === 0) return undefined
  if (to === 'closed') return line.isOpen ? [line.turn.key, 'closed'] : undefined
  return [line.turn.key, line.isOpen ? 'open' : undefined]
}

const days = new Map<number, string>()

/** The local day as 2026-11-18. */
export function dayOf(at: string): string {
  const date = new Date(at)
  // Most rows are of few days, and formatting is the slow part.
  const key = date.getFullYear() * 10_000 + (date.getMonth() + 1) * 100 + date.getDate()
  const known = days.get(key)
  if (known !== undefined) return known
  const text = String(key)
  const day = `${text.slice(0, 4)}-${text.slice(4, 6)}-${text.slice(6)}`
  days.set(key, day)
  return day
}

export type Heights = { readonly card: number; readonly step: number }
export const WIDE: Heights = { card: 52, step: 28 }
/** Two lines per row on a phone. */
export const NARROW: Heights = { card: 58, step: 46 }

export type Layout = {
  /** The top of each line, and of the end. */
  readonly tops: Float64Array
  readonly height: number
}

export function layOut(lines: readonly Line[], heights: Heights): Layout {
  const tops = new Float64Array(lines.length + 1)
  let top = 0
  lines.forEach((line, at) => {
    tops[at] = top
    top += heightOf(line, heights)
  })
  tops[lines.length] = top
  return { tops, height: top }
}

export function heightOf({ type }: Line, heights: Heights): number {
  if (type === 'card') return heights.card
  return type === 'day' || type === 'session' || type === 'more' ? WIDE.step : heights.step
}

/** The line at this distance from the top. */
export function lineAt({ tops }: Layout, y: number): number {
  let [low, high] = [0, tops.length - 2]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((tops[middle] ?? 0) <= y) low = middle
    else high = middle - 1
  }
  return Math.max(0, low)
}
