// The plan of a rewind as text.
import type { NotRestored, OutsideEffect, PlanItem, PlanView } from '../../index.js'
import { formatCount, formatNumber, limitLines } from '../terminal/format-numbers.js'
import { hasListedBelow } from './change-lines.js'
import type { Color, Paint } from '../terminal/colors.js'
import { displayPath, printable, printableLine } from '../terminal/escape.js'
import { relativeTime } from '../terminal/relative-time.js'
import { cutEnd } from '../terminal/text-width.js'

const SHOWN = 20

const GROUPS: readonly (readonly [keyof PlanView, title: string, Color])[] = [
  ['write', 'Will be written', 'green'],
  ['remove', 'Will be removed', 'red'],
  ['keep', 'Stays as it is', 'dim'],
  ['conflict', 'Conflicts, so nothing will be done', 'yellow'],
]

/** Each group with its sorted paths, at most 20 of each. */
export function planText(
  plan: PlanView,
  paint: Paint,
  mine: ReadonlySet<string> = new Set(),
): string {
  const isMine = ({ path }: PlanItem) => mine.has(path)
  const text = (item: PlanItem) => `${itemText(item)}${isMine(item) ? '  (yours)' : ''}`
  const groups = GROUPS.filter(([group]) => plan[group].length > 0).flatMap(
    ([group, title, color]) => [
      `${paint('bold', title)} (${countOf(plan, group)}):`,
      ...limitLines(
        shownItems(plan[group]).map((item) => `  ${paint(color, text(item))}`),
        SHOWN,
      ),
    ],
  )
  const hasMine = [...plan.write, ...plan.remove].some(isMine)
  return [...groups, ...(hasMine ? [KEEP_MINE] : [])].join('\n')
}

const KEEP_MINE = 'To keep what you changed since, marked (yours), add --keep-mine.'

/** `2 files written, 1 removed, 1 kept`, with the numbers of the plan. */
export function planCounts({ write, remove, keep }: PlanView): string {
  const removed = countText(remove)
  const parts = [
    ...(write.length > 0 ? [`${countText(write)} written`] : []),
    ...(remove.length > 0
      ? [`${write.length > 0 ? removed.replace(/ files?$/, '') : removed} removed`]
      : []),
    ...(keep.length > 0 ? [`${formatNumber(shownItems(keep).length)} kept`] : []),
  ]
  return parts.join(', ')
}

/** The changes that a rewind cannot revert; empty if there are none. */
export function notRestoredText(
  found: readonly NotRestored[] | undefined,
  { paint, now }: { readonly paint: Paint; readonly now: Date },
): string {
  if (found === undefined || found.length === 0) return ''
  const lines = found.map(({ path, isFolder, change, by, at }) => {
    const name = `${displayPath(path)}${isFolder ? '/' : ''}`
    return paint(
      'yellow',
      `  ${name}  (${change} by "${printableLine(by)}", ${relativeTime(at, now)})`,
    )
  })
  return [
    `${paint('bold', 'Not restored, because no checkpoint has it')} (${formatNumber(found.length)}):`,
    ...limitLines(lines, SHOWN),
  ].join('\n')
}

/** Commands whose effects are outside the folder. */
export function outsideText(
  found: readonly OutsideEffect[] | undefined,
  { paint, now }: { readonly paint: Paint; readonly now: Date },
): string {
  if (found === undefined || found.length === 0) return ''
  const lines = found.map(({ command, prompt, at }) => {
    const under = prompt === null ? '' : `, "${cutEnd(printableLine(prompt), MAX_PROMPT)}"`
    return paint('yellow', `  ${printableLine(command)}  (${relativeTime(at, now)}${under})`)
  })
  return [
    `${paint('bold', 'Not taken back, because it is outside the folder')} (${formatNumber(found.length)}):`,
    ...limitLines(lines, SHOWN),
  ].join('\n')
}

const MAX_PROMPT = 60

/** For a session whose state changes with the files. */
export function stateText(session: string | undefined): string {
  return session === undefined ? '' : `The state of ${printableLine(session)} will change too.`
}

export function isNothing({ write, remove, conflict }: PlanView): boolean {
  return write.length + remove.length + conflict.length === 0
}

const MARKS: Readonly<Record<NonNullable<PlanItem['change']>, string>> = {
  added: '+ ',
  removed: '- ',
  modified: '~ ',
  type: '~ ',
  mode: '~ ',
}

function itemText({ path, reason, change }: PlanItem): string {
  const mark = change === undefined ? '' : MARKS[change]
  return `${mark}${displayPath(path)}${reason === undefined ? '' : `  (${printable(reason)})`}`
}

/** A folder is listed and counted only if no path inside it is. */
export function shownItems(items: readonly PlanItem[]): readonly PlanItem[] {
  const isFolder = hasListedBelow(items)
  return items
    .filter(({ path }) => !isFolder(path))
    .toSorted((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0))
}

function countOf(plan: PlanView, group: keyof PlanView): string {
  const isChanged = group === 'write' || group === 'remove'
  return isChanged ? countText(plan[group]) : formatNumber(shownItems(plan[group]).length)
}

/** `6 files`, `1 folder`, `6 files and 1 folder`. */
function countText(items: readonly PlanItem[]): string {
  const shown = shownItems(items)
  const folders = shown.filter(({ type }) => type === 'folder').length
  const files = shown.length - folders
  return [
    ...(files > 0 ? [formatCount(files, 'file')] : []),
    ...(folders > 0 ? [formatCount(folders, 'folder')] : []),
  ].join(' and ')
}
