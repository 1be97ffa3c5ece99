// The picker as lines of a screen: never more than it has, none wider than it is.
import type { PlanItem, PlanView } from '../../index.js'
import { grouped } from '../figures.js'
import type { Colour, Paint } from '../paint.js'
import { planCounts } from '../plan-text.js'
import { pathForPeople, printable, printableLine } from '../printable.js'
import { cutEnd, padEnd, padStart, widthOf } from '../text-width.js'
import {
  highlighted,
  listHeight,
  type Picker,
  type PickerRow,
  type Restore,
} from './picker-state.js'

/** What the highlighted checkpoint would change; undefined while that is being found out. */
export type Preview = { readonly plan: PlanView } | { readonly problem: string } | undefined

type Line = { readonly text: string; readonly colour?: Colour }

const GROUPS: readonly (readonly [keyof PlanView, mark: string, Colour])[] = [
  ['conflict', '! in the way: ', 'yellow'],
  ['write', '~ ', 'green'],
  ['remove', '- ', 'red'],
  ['keep', '= kept: ', 'dim'],
]

const WAYS: readonly { readonly key: string; readonly name: string; readonly restore: Restore }[] =
  [
    { key: 'f', name: 'files', restore: 'files' },
    { key: 'c', name: 'conversation', restore: 'state' },
    { key: 'b', name: 'both', restore: 'both' },
  ]

export function pickerLines(
  picker: Picker,
  { preview, paint }: { readonly preview: Preview; readonly paint: Paint },
): string[] {
  const { rows, columns } = picker.size
  const height = listHeight(picker.size)
  const shown = picker.found.slice(picker.top, picker.top + height)
  const list = [...listLines(picker, shown)]
  while (list.length < height) list.push({ text: '' })
  const room = rows - height - 3
  const lines = [
    titleLine(picker),
    ...list,
    ...(room < 1 ? [] : [headLine(picker, preview), ...previewLines(preview, room)]),
  ]
  while (lines.length < rows - 1) lines.push({ text: '' })
  const all = rows < 2 ? list : [...lines.slice(0, rows - 1), keyLine(picker)]
  // A line as wide as the screen would make some terminals begin another.
  return all.map(({ text, colour }) => {
    const cut = cutEnd(text, columns - 1)
    return colour === undefined ? cut : paint(colour, cut)
  })
}

function titleLine({ query, isSearching, found, all }: Picker): Line {
  if (isSearching || query !== '')
    return {
      text: `Search: ${printable(query)}${isSearching ? '_' : ''}  (${grouped(found.length)} of ${grouped(all.length)})`,
      colour: 'bold',
    }
  return { text: `Go back to which of ${grouped(all.length)}?`, colour: 'bold' }
}

function listLines(picker: Picker, shown: readonly PickerRow[]): Line[] {
  if (shown.length === 0) return [{ text: '  Nothing found.', colour: 'dim' }]
  const current = highlighted(picker)
  const numbers = Math.max(...shown.map(({ number }) => `${number}`.length))
  const times = Math.max(...shown.map(({ time }) => widthOf(time)))
  return shown.map((row) => {
    const mark = row === current ? '>' : ' '
    const time = padEnd(row.time, times)
    const text = `${mark} ${padStart(`${row.number}`, numbers)}  ${time}  ${row.what}`
    return row === current ? { text, colour: 'cyan' } : { text }
  })
}

function headLine(picker: Picker, preview: Preview): Line {
  if (highlighted(picker) === undefined) return { text: '' }
  if (preview === undefined) return { text: '-- Looking at the folder…', colour: 'dim' }
  if ('problem' in preview)
    return { text: `-- ${printableLine(preview.problem)}`, colour: 'yellow' }
  const counts = planCounts(preview.plan)
  const text = counts === '' ? 'The folder is as it was then' : `Would be: ${counts}`
  return { text: `-- ${text}`, colour: 'bold' }
}

function previewLines(preview: Preview, room: number): Line[] {
  if (preview === undefined || 'problem' in preview) return []
  const lines = GROUPS.flatMap(([group, mark, colour]) =>
    preview.plan[group].map((item) => ({ text: `   ${mark}${itemText(item)}`, colour })),
  )
  if (lines.length <= room) return lines
  const left = lines.length - room + 1
  return [...lines.slice(0, room - 1), { text: `   … and ${grouped(left)} more`, colour: 'dim' }]
}

function itemText({ path, reason }: PlanItem): string {
  return `${pathForPeople(path)}${reason === undefined ? '' : `  (${printable(reason)})`}`
}

function keyLine(picker: Picker): Line {
  if (picker.remark !== '') return { text: picker.remark, colour: 'yellow' }
  if (picker.isSearching)
    return { text: 'Type to search   Enter: keep the search   Esc: leave it', colour: 'dim' }
  const hasState = highlighted(picker)?.hasState === true
  const others = WAYS.filter(({ restore }) => hasState && restore !== picker.usual)
  const usual = WAYS.find(({ restore }) => restore === picker.usual)?.name ?? ''
  const keys = [`Enter: ${usual}`, ...others.map(({ key, name }) => `${key}: ${name}`)]
  return { text: [...keys, '/: search', 'q: nothing'].join('   '), colour: 'dim' }
}
