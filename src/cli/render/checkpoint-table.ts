// A list of checkpoints, grouped by prompt: number, id, text, and at the right the agent, the changes and the age.
import type { Group } from './checkpoint-groups.js'
import {
  continuedLine,
  type LineStyle,
  type ListRow,
  noteLine,
  promptLine,
  type RowLine,
  SINGLE_INDENT,
  singleLine,
  stepLine,
} from './checkpoint-lines.js'
import { formatCount } from '../terminal/format-numbers.js'
import { layoutLines } from '../terminal/line-layout.js'
import { idWidth, paintId } from '../terminal/short-id.js'
import { padStart } from '../terminal/text-width.js'

export { folderText } from './checkpoint-lines.js'

type ListLayout = LineStyle & {
  /** The rows to print; the prompts of their groups are printed too. */
  readonly shown: (row: ListRow) => boolean
  /** Prints how many steps of a prompt are not shown. */
  readonly countsHidden?: boolean
  /** Prints only prompts and single rows, with the number of steps. */
  readonly promptsOnly?: boolean
}

export function checkpointTable(groups: readonly Group<ListRow>[], layout: ListLayout): string {
  const { screen } = layout
  // Without prompts no row needs an indent.
  const outdent = groups.some(({ type }) => type === 'prompt') ? 0 : SINGLE_INDENT
  const lines = groups
    .flatMap((group) => linesOf(group, layout))
    .map((line) => ({ ...line, indent: line.indent - outdent }))
  const labels = Math.max(0, ...lines.map(({ row }) => row?.label?.length ?? 0))
  const letters = Math.max(0, ...lines.map(({ row }) => row?.shortId.length ?? 0))
  const ids = idWidth(letters, screen.paint)
  const margin = (labels > 0 ? labels + 2 : 0) + ids + 2
  const texts = layoutLines(lines, { screen, margin })
  return lines
    .map(({ row }, at) => {
      if (row === undefined) return (' '.repeat(margin) + texts[at]).trimEnd()
      const label = labels > 0 ? `${padStart(row.label ?? '', labels)}  ` : ''
      const gap = ' '.repeat(ids - idWidth(row.shortId.length, screen.paint))
      return `${label}${paintId(row, screen.paint)}${gap}  ${texts[at]}`.trimEnd()
    })
    .join('\n')
}

function linesOf(group: Group<ListRow>, layout: ListLayout): RowLine[] {
  const { shown, promptsOnly = false } = layout
  if (group.type === 'row') return shown(group.row) ? [singleLine(group.row, layout)] : []
  const { prompt, steps, isContinued } = group
  const chosen = promptsOnly ? [] : steps.filter(shown)
  if (chosen.length === 0 && (isContinued || !shown(prompt))) return []
  const hidden = layout.countsHidden === true ? steps.length - chosen.length : 0
  return [
    isContinued
      ? continuedLine(prompt)
      : promptLine(prompt, layout, promptsOnly ? steps.length : 0),
    ...(hidden > 0 && !promptsOnly ? [noteLine(`… ${formatCount(hidden, 'earlier step')}`)] : []),
    ...chosen.map((row) => stepLine(row, layout)),
  ]
}
