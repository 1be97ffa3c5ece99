// The state of the picker, without a terminal: each key returns the next state.
import {
  isFoldable,
  itemsOf,
  itemsWith,
  matches,
  type PickerGroup,
  type PickerItem,
  type PickerRow,
  rowsOf,
} from './picker-items.js'

export type Restore = 'files' | 'state' | 'both'

export type Size = { readonly rows: number; readonly columns: number }

export type Choice = {
  readonly id: string
  readonly restore: Restore
  /** Go to just before the tool call of that checkpoint. */
  readonly before: boolean
}

/** Asked for the row of a tool call. */
export type Question = { readonly restore: Restore; readonly answer: Answer }
export type Answer = (typeof ANSWERS)[number]
export const ANSWERS = ['before', 'after', 'cancel'] as const

export type Picker = {
  readonly groups: readonly PickerGroup[]
  /** How many checkpoints there are, and how many of them the search finds. */
  readonly total: number
  readonly found: number
  /** The groups whose steps are all shown. */
  readonly opened: ReadonlySet<PickerGroup>
  readonly items: readonly PickerItem[]
  /** The highlighted item, and the first one on the screen. */
  readonly at: number
  readonly top: number
  readonly query: string
  readonly isSearching: boolean
  readonly question: Question | undefined
  readonly size: Size
  /** The parts that Enter restores. */
  readonly usual: Restore
  /** Why the last key did nothing. */
  readonly remark: string
  /** Undefined until the user has decided; null if they quit. */
  readonly choice: Choice | null | undefined
}

/** As Node's readline reports keys. */
export type Key = {
  readonly name?: string | undefined
  readonly ctrl?: boolean | undefined
  readonly meta?: boolean | undefined
  readonly shift?: boolean | undefined
  readonly sequence?: string | undefined
}

export function openPicker(
  groups: readonly PickerGroup[],
  { size, usual }: Pick<Picker, 'size' | 'usual'>,
): Picker {
  const total = rowsOf(groups).length
  const opened = new Set<PickerGroup>()
  const items = itemsOf(groups, opened)
  const start = { at: 0, top: 0, query: '', isSearching: false, remark: '' }
  const undecided = { question: undefined, choice: undefined }
  return { groups, total, found: total, opened, items, size, usual, ...start, ...undecided }
}

export function highlightedItem({ items, at }: Picker): PickerItem | undefined {
  return items[at]
}

export function highlighted(picker: Picker): PickerRow | undefined {
  const item = highlightedItem(picker)
  return item?.type === 'row' ? item.row : undefined
}

/** The checkpoint for Enter, and whether it is before or after the prompt or call of the row. */
export function targetOf(
  picker: Picker,
):
  | { readonly id: string; readonly row: PickerRow; readonly moment: PickerRow['moment'] }
  | undefined {
  const row = highlighted(picker)
  if (row === undefined) return undefined
  const isAfter = picker.question?.answer === 'after'
  if (row.before === null || isAfter) return { id: row.id, row, moment: row.moment }
  return { id: row.before, row, moment: 'before' }
}

/** The lines for checkpoints; the others are for title, preview and keys. */
export function listHeight({ rows }: Size): number {
  return rows < 10 ? Math.max(1, rows - 2) : Math.floor((rows - 3) / 2)
}

export function resize(picker: Picker, size: Size): Picker {
  return inView({ ...picker, size })
}

export function press(picker: Picker, key: Key): Picker {
  const next = { ...picker, remark: '' }
  if (picker.question !== undefined) return answer(next, picker.question, key)
  const moved = move(next, key)
  if (moved !== undefined) return moved
  if (picker.isSearching) return type(next, key)
  // Node reports Esc with meta set, because terminals send Meta as Esc.
  const isModified = key.ctrl === true || (key.meta === true && key.name !== 'escape')
  // On a slow line an arrow key can arrive as Esc and later `[B` or `[C`, which must not act as `b` or `c`.
  if (isModified || key.shift === true) return next
  const restore = { return: picker.usual, enter: picker.usual, ...RESTORE_KEYS }[key.name ?? '']
  if (restore !== undefined) return choose(next, restore)
  const isOpen = { right: true, l: true, left: false, h: false }[key.name ?? '']
  if (isOpen !== undefined) return fold(next, { isOpen })
  if (key.name === 'u') return chooseBefore(next)
  if (key.name === 'q' || key.name === 'escape') return { ...next, choice: null }
  return key.sequence === '/' ? { ...next, isSearching: true } : next
}

const RESTORE_KEYS: Readonly<Record<string, Restore>> = { f: 'files', c: 'state', b: 'both' }

function move(picker: Picker, { name, ctrl, meta }: Key): Picker | undefined {
  const page = listHeight(picker.size)
  const keys = { up: -1, down: 1, pageup: -page, pagedown: page, home: -Infinity, end: Infinity }
  const letters =
    ctrl === true ? { p: -1, n: 1 } : picker.isSearching || meta === true ? {} : { k: -1, j: 1 }
  const step = new Map<string, number>(Object.entries({ ...keys, ...letters })).get(name ?? '')
  return step === undefined ? undefined : moveTo(picker, picker.at + step)
}

function moveTo(picker: Picker, at: number): Picker {
  return inView({ ...picker, at: Math.max(0, Math.min(at, picker.items.length - 1)) })
}

function inView(picker: Picker): Picker {
  const height = listHeight(picker.size)
  const last = Math.max(0, picker.items.length - height)
  const top = Math.max(picker.at - height + 1, Math.min(picker.top, picker.at))
  return { ...picker, top: Math.max(0, Math.min(top, last)) }
}

function type(picker: Picker, { name, ctrl, meta, sequence = '' }: Key): Picker {
  if (name === 'escape') return search({ ...picker, isSearching: false }, '')
  if (name === 'return' || name === 'enter') return { ...picker, isSearching: false }
  if (name === 'backspace') {
    if (picker.query === '') return { ...picker, isSearching: false }
    return search(picker, Array.from(picker.query).slice(0, -1).join(''))
  }
  if (ctrl === true) return name === 'u' ? search(picker, '') : picker
  const isText = meta !== true && sequence !== '' && !/[\p{Cc}\p{Cs}]/u.test(sequence)
  return isText ? search(picker, picker.query + sequence) : picker
}

/** Keeps the highlighted row if it still matches; otherwise highlights the first match, not its prompt. */
function search(picker: Picker, query: string): Picker {
  const { groups, opened } = picker
  const items = query === '' ? itemsOf(groups, opened) : itemsWith(groups, query)
  const found = rowsOf(groups).filter((row) => matches(row, query))
  const before = highlighted(picker)
  const wanted = before !== undefined && matches(before, query) ? before : found[0]
  return inView({ ...picker, query, items, found: found.length, at: indexOfRow(items, wanted) })
}

function indexOfRow(items: readonly PickerItem[], row: PickerRow | undefined): number {
  const at = items.findIndex((item) => item.type === 'row' && item.row === row)
  return Math.max(0, at)
}

function fold(picker: Picker, { isOpen }: { readonly isOpen: boolean }): Picker {
  const item = highlightedItem(picker)
  // A search shows all matches, so there is nothing to fold.
  if (item === undefined || picker.query !== '' || !isFoldable(item.group)) return picker
  const { group } = item
  const opened = new Set(picker.opened)
  if (isOpen) opened.add(group)
  else opened.delete(group)
  const items = itemsOf(picker.groups, opened)
  // After opening, highlight the first step that was hidden; after hiding the highlighted step, its prompt.
  const [oldest] = group.steps
  const row = item.type === 'fold' ? oldest : item.row
  const isShown = items.some((one) => one.type === 'row' && one.row === row)
  const at = indexOfRow(items, isShown ? row : (group.head ?? undefined))
  return inView({ ...picker, opened, items, at })
}

function choose(picker: Picker, restore: Restore): Picker {
  const row = highlighted(picker)
  if (row === undefined) return fold(picker, { isOpen: true })
  const remark = lackOf(row, restore)
  if (remark !== undefined) return { ...picker, remark }
  if (row.before !== null) return { ...picker, question: { restore, answer: 'before' } }
  return { ...picker, choice: { id: row.id, restore, before: false } }
}

function chooseBefore(picker: Picker): Picker {
  const row = highlighted(picker)
  if (row === undefined) return picker
  const remark =
    row.moment === null
      ? 'This checkpoint is not a tool call: press Enter to go to it.'
      : row.moment === 'after' && row.before === null
        ? 'There is no checkpoint before this call.'
        : lackOf(row, picker.usual)
  if (remark !== undefined) return { ...picker, remark }
  return { ...picker, choice: { id: row.id, restore: picker.usual, before: row.before !== null } }
}

function lackOf(row: PickerRow, restore: Restore): string | undefined {
  if (restore !== 'state' && !row.hasFiles) return 'It has no files.'
  return restore !== 'files' && !row.hasState ? 'It has no conversation.' : undefined
}

function answer(picker: Picker, question: Question, { name, ctrl, meta }: Key): Picker {
  const step = { up: -1, k: -1, down: 1, j: 1, tab: 1 }[name ?? '']
  if (ctrl === true || (meta === true && name !== 'escape')) return picker
  if (step !== undefined) {
    const at = (ANSWERS.indexOf(question.answer) + step + ANSWERS.length) % ANSWERS.length
    return { ...picker, question: { ...question, answer: ANSWERS[at] ?? 'before' } }
  }
  const letters = { u: 'before', a: 'after', q: 'cancel', escape: 'cancel' }
  const given = { return: question.answer, enter: question.answer, ...letters }[name ?? '']
  const row = highlighted(picker)
  if (given === undefined || row === undefined) return picker
  if (given === 'cancel') return { ...picker, question: undefined }
  const { restore } = question
  return { ...picker, choice: { id: row.id, restore, before: given === 'before' } }
}
