// The preview of a rewind: one line per path, in path order, marked as created, changed, removed or kept.
import type { PlanItem, PlanView } from '../../index.js'
import { formatNumber } from '../terminal/format-numbers.js'
import { hasListedBelow } from '../render/change-lines.js'
import type { Color } from '../terminal/colors.js'
import { displayPath, printable } from '../terminal/escape.js'

/** Undefined while the folder is compared. */
export type Preview =
  | {
      readonly plan: PlanView
      /** Paths that the user has changed since; empty if all changes are the user's. */
      readonly mine: ReadonlySet<string>
      /** True if only the user has changed files, in a project where agents work. */
      readonly isAllMine: boolean
    }
  | { readonly problem: string }
  | undefined

type PreviewLine = { readonly text: string; readonly color: Color }

export function previewLines(preview: Preview, height: number): PreviewLine[] {
  if (preview === undefined || 'problem' in preview) return []
  const { plan, mine } = preview
  const lines = [
    ...plan.conflict.map((item) => line(`! in the way: ${withReason(item)}`, 'yellow')),
    ...changeLines(plan, mine),
    ...plan.keep.map((item) => line(`= kept: ${withReason(item)}`, 'dim')),
  ]
  if (lines.length <= height) return lines
  const left = lines.length - height + 1
  const more = line(`… and ${formatNumber(left)} more`, 'dim')
  return height < 1 ? [] : [...lines.slice(0, height - 1), more]
}

/** A folder is listed only if no path inside it is, as in the counts. */
function changeLines({ write, remove }: PlanView, mine: ReadonlySet<string>): PreviewLine[] {
  const isAbove = { write: hasListedBelow(write), remove: hasListedBelow(remove) }
  const changes = [
    ...write
      .filter(({ path }) => !isAbove.write(path))
      .map((item) => ({ item, ...(isMade(item) ? MADE : CHANGED) })),
    ...remove.filter(({ path }) => !isAbove.remove(path)).map((item) => ({ item, ...REMOVED })),
  ]
  return changes
    .sort((a, b) => (a.item.path < b.item.path ? -1 : 1))
    .map(({ item, mark, color }) => {
      const yours = mine.has(item.path) ? '  (yours)' : ''
      return line(`${mark} ${displayPath(item.path)}${yours}`, color)
    })
}

const MADE = { mark: '+', color: 'green' } as const
const CHANGED = { mark: '~', color: 'yellow' } as const
const REMOVED = { mark: '-', color: 'red' } as const

function isMade({ reason }: PlanItem): boolean {
  return reason?.endsWith(' is missing') === true
}

function withReason({ path, reason }: PlanItem): string {
  return `${displayPath(path)}${reason === undefined ? '' : `  (${printable(reason)})`}`
}

function line(text: string, color: Color): PreviewLine {
  return { text: `   ${text}`, color }
}
