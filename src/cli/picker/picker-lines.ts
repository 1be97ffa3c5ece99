// The picker as lines that fit the screen.
import type { PlanItem, PlanView } from '../../index.js'
import { formatNumber } from '../terminal/format-numbers.js'
import { layoutLines, type Part } from '../terminal/line-layout.js'
import type { Color, Paint } from '../terminal/colors.js'
import { planCounts, shownItems } from '../render/plan-text.js'
import { displayPath, printable, printableLine } from '../terminal/escape.js'
import { cutEnd, padStart, widthOf, withoutColors } from '../terminal/text-width.js'
import { isFoldable, type PickerItem } from './picker-items.js'
import {
  ANSWERS,
  highlighted,
  highlightedItem,
  listHeight,
  type Picker,
  type Restore,
  targetOf,
} from './picker-state.js'

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

type Line = {
  readonly text: string
  readonly color?: Color | undefined
}

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
  const list = listLines(picker, { height, paint })
  while (list.length < height) list.push({ text: '' })
  const free = rows - height - 3
  const lines = [
    titleLine(picker),
    ...list,
    ...(free < 1 ? [] : belowLines(picker, { preview, height: free })),
  ]
  while (lines.length < rows - 1) lines.push({ text: '' })
  const all = rows < 2 ? list : [...lines.slice(0, rows - 1), keyLine(picker)]
  // Some terminals wrap a line that is as wide as the screen.
  return all.map(({ text, color }) => {
    const cut = cutEnd(text, columns - 1)
    return color === undefined ? cut : paint(color, cut)
  })
}

function titleLine({ query, isSearching, found, total, question }: Picker): Line {
  if (question !== undefined)
    return { text: 'Go back to before or after this call?', color: 'bold' }
  if (isSearching || query !== '')
    return {
      text: `Search: ${printable(query)}${isSearching ? '_' : ''}  (${formatNumber(found)} of ${formatNumber(total)})`,
      color: 'bold',
    }
  return { text: `Go back to which checkpoint? (${formatNumber(total)})`, color: 'bold' }
}

const PLAIN: Paint = (_, text) => text

function listLines(
  picker: Picker,
  { height, paint }: { readonly height: number; readonly paint: Paint },
): Line[] {
  const shown = picker.items.slice(picker.top, picker.top + height)
  if (shown.length === 0) return [{ text: '  Nothing found.', color: 'dim' }]
  const numbers = `${picker.total}`.length
  const margin = numbers + 4
  const width = picker.size.columns - 1
  const current = highlightedItem(picker)
  return shown.map((item): Line => {
    const isCurrent = item === current
    const own = isCurrent ? PLAIN : paint
    const [body = ''] = layoutLines([lineOf(item, isCurrent)], {
      screen: { width, paint: own },
      margin,
    })
    const left = `${isCurrent ? '>' : ' '} ${padStart(numberOf(item), numbers)}  `
    if (width < margin) return { text: left }
    return { text: left + body, color: isCurrent ? 'cyan' : undefined }
  })
}

function numberOf(item: PickerItem): string {
  return item.type === 'fold' ? '' : `${item.row.number}`
}

function lineOf(item: PickerItem, isCurrent: boolean) {
  if (item.type === 'fold') {
    const text = `… ${formatNumber(item.hidden)} more (→ to open)`
    return { indent: 4, mark: '', text, color: 'dim' as const, right: [] }
  }
  const { line } = item.row
  // The highlighted line has one color.
  const plain = (part: Part) => ({ ...part, text: withoutColors(part.text) })
  const right = isCurrent ? line.right.map(plain) : line.right
  return { ...line, right }
}

/** The question, if there is one, then the preview of the answer. */
function belowLines(
  picker: Picker,
  { preview, height }: { readonly preview: Preview; readonly height: number },
): Line[] {
  const question = questionLines(picker)
  const left = height - question.length
  return [...question, headLine(picker, preview), ...previewLines(preview, Math.max(0, left))]
}

const ANSWER_TEXTS = {
  before: 'before this call',
  after: 'after this call',
  cancel: 'cancel',
} as const

function questionLines({ question }: Picker): Line[] {
  if (question === undefined) return []
  return ANSWERS.map((answer): Line => {
    const isCurrent = answer === question.answer
    const text = `   ${isCurrent ? '>' : ' '} ${ANSWER_TEXTS[answer]}`
    return isCurrent ? { text, color: 'cyan' } : { text }
  })
}

function headLine(picker: Picker, preview: Preview): Line {
  const target = targetOf(picker)
  if (target === undefined) return { text: '' }
  const { row, moment } = target
  const thing = row.isPrompt ? 'prompt' : 'call'
  const where =
    moment === null
      ? 'At this checkpoint'
      : `${moment === 'before' ? 'Before' : 'After'} this ${thing}`
  if (picker.question?.answer === 'cancel') return { text: '' }
  if (preview === undefined) return { text: `-- ${where}: comparing the folder…`, color: 'dim' }
  if ('problem' in preview)
    return { text: `-- ${where}: ${printableLine(preview.problem)}`, color: 'yellow' }
  const counts = planCounts(preview.plan)
  const whose = preview.isAllMine && counts !== '' ? ', all changed by you' : ''
  const text = counts === '' ? 'nothing would change' : `${counts}${whose}`
  return { text: `-- ${where}: ${text}`, color: 'bold' }
}

function keyLine(picker: Picker): Line {
  if (picker.remark !== '') return { text: picker.remark, color: 'yellow' }
  return { text: dropKeys(keysOf(picker), picker.size.columns - 1).join('  '), color: 'dim' }
}

/** On a narrow screen drops first the descriptions from the right, then all keys but the first and the last. */
function dropKeys(keys: readonly string[], width: number): readonly string[] {
  if (keys.length <= 2 || widthOf(keys.join('  ')) <= width) return keys
  const long = keys.findLastIndex((key) => key.includes(': '))
  if (long <= 0) return dropKeys(keys.toSpliced(-2, 1), width)
  const [key = ''] = keys[long]?.split(': ') ?? []
  return dropKeys(keys.with(long, key), width)
}

function keysOf(picker: Picker): string[] {
  if (picker.isSearching) return ['Type to search', 'Enter: apply filter', 'Esc: clear']
  if (picker.question !== undefined)
    return [
      `Enter: ${ANSWER_TEXTS[picker.question.answer]}`,
      ...(picker.question.answer === 'before' ? ['a: after this call'] : ['u: before this call']),
      'Esc: cancel',
    ]
  const [row, item] = [highlighted(picker), highlightedItem(picker)]
  const rest = ['/: search', 'q: quit']
  if (row === undefined) return item === undefined ? rest : ['Enter or →: open', ...rest]
  const others = WAYS.filter(({ restore }) => row.hasState && restore !== picker.usual)
  const usual = WAYS.find(({ restore }) => restore === picker.usual)?.name ?? ''
  const enter = row.before !== null ? ['Enter: before or after', 'u: before'] : [`Enter: ${usual}`]
  const isFolded = item?.type === 'row' && item.row === item.group.head && isFoldable(item.group)
  const steps =
    isFolded && picker.query === '' && !picker.opened.has(item.group) ? ['→: steps'] : []
  return [...enter, ...others.map(({ key, name }) => `${key}: ${name}`), ...steps, ...rest]
}

/** One line per path, in path order, marked as created, changed, removed or kept. */
function previewLines(preview: Preview, height: number): Line[] {
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
function changeLines({ write, remove }: PlanView, mine: ReadonlySet<string>): Line[] {
  const changes = [
    ...shownItems(write).map((item) => ({ item, ...(isMade(item) ? MADE : CHANGED) })),
    ...shownItems(remove).map((item) => ({ item, ...REMOVED })),
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

function line(text: string, color: Color): Line {
  return { text: `   ${text}`, color }
}
