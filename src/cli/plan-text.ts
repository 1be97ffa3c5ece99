// What a rewind would do or did, in words.
import type { PlanItem, PlanView } from '../index.js'
import { counted, grouped } from './figures.js'
import { hasListedBelow } from './folders-above.js'
import type { Colour, Paint } from './paint.js'
import { pathForPeople, printable, printableLine } from './printable.js'

const SHOWN = 20

const GROUPS: readonly (readonly [keyof PlanView, title: string, Colour])[] = [
  ['write', 'Will be written', 'green'],
  ['remove', 'Will be removed', 'red'],
  ['keep', 'Stays as it is', 'dim'],
  ['conflict', 'In the way, so that nothing will be done', 'yellow'],
]

/** Every group with its paths, at most 20 of each. */
export function planText(plan: PlanView, paint: Paint): string {
  return GROUPS.filter(([group]) => plan[group].length > 0)
    .map(([group, title, colour]) => {
      const items = plan[group]
      const more = items.length - SHOWN
      return [
        `${paint('bold', title)} (${grouped(items.length)}):`,
        ...items.slice(0, SHOWN).map((item) => `  ${paint(colour, itemText(item))}`),
        ...(more > 0 ? [`  … and ${grouped(more)} more`] : []),
      ].join('\n')
    })
    .join('\n')
}

/** `2 files written, 1 removed, 1 kept`. */
export function planCounts({ write, remove, keep }: PlanView): string {
  const [written, removed] = [countFiles(write), countFiles(remove)]
  const parts = [
    ...(written > 0 ? [`${counted(written, 'file')} written`] : []),
    ...(removed > 0
      ? [`${written > 0 ? grouped(removed) : counted(removed, 'file')} removed`]
      : []),
    ...(keep.length > 0 ? [`${grouped(keep.length)} kept`] : []),
  ]
  return parts.join(', ')
}

/** Of a session that gets another state with the files, if there is one. */
export function stateText(session: string | undefined): string {
  return session === undefined ? '' : `The state of ${printableLine(session)} will change too.`
}

export function isNothing({ write, remove, conflict }: PlanView): boolean {
  return write.length + remove.length + conflict.length === 0
}

function itemText({ path, reason }: PlanItem): string {
  return `${pathForPeople(path)}${reason === undefined ? '' : `  (${printable(reason)})`}`
}

/** A folder goes with what is in it: it counts only if nothing in it is listed. */
function countFiles(items: readonly PlanItem[]): number {
  const isFolder = hasListedBelow(items)
  return items.filter(({ path }) => !isFolder(path)).length
}
