// Rows in columns, for a terminal of any width. The last column gets the remaining width.
import type { Color } from './colors.js'
import type { Screen } from './screen.js'
import { padEnd, padStart, widthOf } from './text-width.js'

const GAP = '  '
/** The least width of the last column. */
const MIN_LAST = 12

type Column<Row> = {
  readonly cell: (row: Row, index: number) => string
  readonly color?: Color
  readonly isNumber?: boolean
  /** Dropped on a narrow terminal, the last of them first. */
  readonly isLesser?: boolean
}

/** Drops columns whose cells are all empty. */
export function textTable<Row>(
  rows: readonly Row[],
  layout: {
    readonly columns: readonly Column<Row>[]
    /** The last cell, at most `width` columns wide. */
    readonly last: (row: Row, width: number) => string
    readonly screen: Screen
  },
): string {
  const { columns, last, screen } = layout
  const sized = columns.map((column) => {
    const cells = rows.map(column.cell)
    return { ...column, cells, width: Math.max(0, ...cells.map(widthOf)) }
  })
  const filled = dropColumns(
    sized.filter(({ width }) => width > 0),
    screen.width - MIN_LAST,
  )
  const left = Math.max(MIN_LAST, screen.width - widthOfAll(filled))
  return rows
    .map((row, at) =>
      filled
        .map(({ cells, width, color, isNumber }) => {
          const text = (isNumber === true ? padStart : padEnd)(cells[at] ?? '', width)
          return color === undefined ? text : screen.paint(color, text)
        })
        .concat(last(row, left))
        .join(GAP)
        .trimEnd(),
    )
    .join('\n')
}

function dropColumns<Sized extends { readonly isLesser?: boolean; readonly width: number }>(
  columns: readonly Sized[],
  width: number,
): readonly Sized[] {
  const lesser = columns.findLastIndex(({ isLesser }) => isLesser === true)
  if (lesser === -1 || widthOfAll(columns) <= width) return columns
  return dropColumns(columns.toSpliced(lesser, 1), width)
}

function widthOfAll(columns: readonly { readonly width: number }[]): number {
  return columns.reduce((sum, { width }) => sum + width + GAP.length, 0)
}
