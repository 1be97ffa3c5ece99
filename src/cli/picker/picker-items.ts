// The items of the picker: checkpoints grouped by prompt. Only the last few steps of a prompt are shown until the user
// opens it. A search includes the folded steps, and shows each match below its prompt.
import type { Line } from '../terminal/line-layout.js'

export type PickerRow = {
  readonly id: string
  /** As in `savestate list`. */
  readonly number: number
  readonly line: Line
  readonly isPrompt: boolean
  /** Whether it is before or after its prompt or call; null without one. */
  readonly moment: 'before' | 'after' | null
  /** The checkpoint just before the tool call of this row; null if there is none. */
  readonly before: string | null
  readonly hasFiles: boolean
  readonly hasState: boolean
}

export type PickerGroup = {
  /** The prompt, or a single row; null if other rows separate the steps from their prompt. */
  readonly head: PickerRow | null
  /** Oldest first. */
  readonly steps: readonly PickerRow[]
}

export type PickerItem =
  | { readonly type: 'row'; readonly row: PickerRow; readonly group: PickerGroup }
  | { readonly type: 'fold'; readonly hidden: number; readonly group: PickerGroup }

/** The newest ones stay visible. */
const UNFOLDED_STEPS = 3

export function isFoldable({ steps }: PickerGroup): boolean {
  // A fold of a single step would take as many lines as the step.
  return steps.length > UNFOLDED_STEPS + 1
}

export function itemsOf(
  groups: readonly PickerGroup[],
  opened: ReadonlySet<PickerGroup>,
): PickerItem[] {
  return groups.flatMap((group) => {
    const { head, steps } = group
    const isFolded = isFoldable(group) && !opened.has(group)
    const shown = isFolded ? steps.slice(-UNFOLDED_STEPS) : steps
    const fold = { type: 'fold', hidden: steps.length - shown.length, group } as const
    return [
      ...(head === null ? [] : [rowItem(head, group)]),
      ...(isFolded ? [fold] : []),
      ...shown.map((row) => rowItem(row, group)),
    ]
  })
}

/** Every word of the query must be in the text of the row. */
export function itemsWith(groups: readonly PickerGroup[], query: string): PickerItem[] {
  return groups.flatMap((group) => {
    const { head, steps } = group
    const found = steps.filter((row) => matches(row, query))
    const isFound = found.length > 0 || (head !== null && matches(head, query))
    const rows = isFound ? [...(head === null ? [] : [head]), ...found] : []
    return rows.map((row) => rowItem(row, group))
  })
}

export function matches({ line }: PickerRow, query: string): boolean {
  const text = `${line.mark}${line.text}`.toLowerCase()
  return query
    .toLowerCase()
    .split(' ')
    .every((word) => text.includes(word))
}

export function rowsOf(groups: readonly PickerGroup[]): readonly PickerRow[] {
  return groups.flatMap(({ head, steps }) => (head === null ? steps : [head, ...steps]))
}

function rowItem(row: PickerRow, group: PickerGroup): PickerItem {
  return { type: 'row', row, group }
}
