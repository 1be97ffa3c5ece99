// Days as the timeline names them, and the places to jump to. Pure.
import { dayOf, type Layout, type Line } from './lines.js'
import { isFailed } from './words.js'

const LONG = new Intl.DateTimeFormat('en', { weekday: 'short', day: 'numeric', month: 'short' })
const WITH_YEAR = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', year: 'numeric' })
const SHORT = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short' })

/** `day`: 2026-11-18. */
export function dayText(day: string, now = new Date()): string {
  const date = new Date(`${day}T00:00:00`)
  if (day === dayOf(now.toISOString())) return 'Today'
  const yesterday = new Date(now.getFullYear(), now.getMonth(), now.getDate() - 1)
  if (day === dayOf(yesterday.toISOString())) return 'Yesterday'
  return (date.getFullYear() === now.getFullYear() ? LONG : WITH_YEAR).format(date)
}

export function shortDay(day: string): string {
  return SHORT.format(new Date(`${day}T00:00:00`))
}

export type DayTarget = { readonly day: string; readonly top: number; readonly bottom: number }

/** Newest first, each day once. */
export function daysOf(lines: readonly Line[], { tops, height }: Layout): readonly DayTarget[] {
  const starts = lines.flatMap((line, at) =>
    line.type === 'day' ? [{ day: line.day, top: tops[at] ?? 0 }] : [],
  )
  return starts.map((start, at) => ({ ...start, bottom: starts[at + 1]?.top ?? height }))
}

export type StripMark = { readonly kind: 'named' | 'failed' | 'here'; readonly share: number }

/** Closer marks would overlap on a screen. */
const MARK_SHARE = 1 / 200

/** Where named, failed and the current checkpoint are, as shares of the height. At most one mark per kind and place. */
export function stripMarks(
  lines: readonly Line[],
  { tops, height }: Layout,
  hereId: string | null,
): readonly StripMark[] {
  const last = new Map<StripMark['kind'], number>()
  return lines.flatMap((line, at) => {
    if (!('row' in line)) return []
    const { row } = line
    const share = (tops[at] ?? 0) / height
    const kinds: readonly StripMark['kind'][] = [
      ...(row.id === hereId ? (['here'] as const) : []),
      ...(row.name === null ? [] : (['named'] as const)),
      ...(isFailed(row) ? (['failed'] as const) : []),
    ]
    return kinds.flatMap((kind) => {
      if (share - (last.get(kind) ?? -1) < MARK_SHARE) return []
      last.set(kind, share)
      return [{ kind, share }]
    })
  })
}
