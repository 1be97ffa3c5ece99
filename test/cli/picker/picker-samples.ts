// Rows, keys and plans for the tests of the picker.
import type { PlanView } from '../../../src/index.js'
import { paintFor } from '../../../src/cli/terminal/colors.js'
import type { PickerGroup, PickerRow } from '../../../src/cli/picker/picker-items.js'
import { type Key, type Picker, press } from '../../../src/cli/picker/picker-state.js'
import type { Preview } from '../../../src/cli/picker/picker-lines.js'

export const plain = paintFor(false)
export const SIZE = { rows: 12, columns: 60 }

/** Rows outside any prompt. The second has files and a state, the third only a state. */
export function groupsOf(count: number): PickerGroup[] {
  return Array.from({ length: count }, (_, index) => {
    const facts = { hasFiles: index !== 2, hasState: index === 1 || index === 2 }
    return { head: { ...rowOf(index + 1, `call ${index + 1}`), ...facts }, steps: [] }
  })
}

/** A prompt with six calls (7 to 1), one with two (10 to 8), and a save by hand (11). */
export function withPrompts(): PickerGroup[] {
  const call = (number: number): PickerRow => {
    const row = rowOf(number, `Bash: call ${number}`, 4)
    return { ...row, moment: 'after', before: `id-${number + 1}`, hasState: true }
  }
  const prompt = (number: number, text: string): PickerRow => {
    const row = rowOf(number, `You: ${text}`)
    const line = { ...row.line, mark: '● ' }
    return { ...row, line, isPrompt: true, moment: 'before', hasState: true }
  }
  return [
    { head: prompt(7, 'Tidy up'), steps: [6, 5, 4, 3, 2, 1].map(call) },
    { head: prompt(10, 'Add tests'), steps: [9, 8].map(call) },
    { head: rowOf(11, 'by hand'), steps: [] },
  ]
}

function rowOf(number: number, text: string, indent = 0): PickerRow {
  return {
    id: `id-${number}`,
    number,
    line: { indent, mark: '', text, right: [] },
    isPrompt: false,
    moment: null,
    before: null,
    hasFiles: true,
    hasState: false,
  }
}

export function numbersOf({ items }: Picker): readonly (number | string)[] {
  return items.map((item) => (item.type === 'fold' ? `${item.hidden} more` : item.row.number))
}

export function previewOf(plan: PlanView): Preview {
  return { plan, mine: new Set(), isAllMine: false }
}

export function pressed(picker: Picker, ...names: readonly string[]): Picker {
  const keyOf = (name: string): Key =>
    name.length === 1 ? { name: name.toLowerCase(), sequence: name } : { name }
  return names.reduce((state, name) => press(state, keyOf(name)), picker)
}

export function planOf({
  write = [],
  remove = [],
}: {
  write?: string[]
  remove?: string[]
}): PlanView {
  const items = (paths: readonly string[]) => paths.map((path) => ({ path }))
  return { write: items(write), remove: items(remove), keep: [], conflict: [] }
}
