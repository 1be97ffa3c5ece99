// Rows in columns, for a terminal of any width. What is longest and least regular stands last and gets the
// room that is left.
import type { Colour } from './colors.js'
import type { Screen } from './screen.js'
import { padEnd, padStart, widthOf } from './text-width.js'

const GAP = '  '
/** Fewer columns than this say nothing: other things give way first. */
const MIN_LAST = 12

export type Column<Row> = {
  readonly cell: (row: Row, index: number) => string
  readonly colour?: Colour
  readonly isNumber?: boolean
  /** Left out on a narrow terminal, the last of them first. */
  readonly isLesser?: boolean
  /** Of the lesser ones the first to be left out, wherever it stands. */
  readonly goesFirst?: boolean
}

/** A column in which every cell is empty is not there. */
export function textTable<Row>(
  rows: readonly Row[],
  layout: {
    readonly columns: readonly Column<Row>[]
    /** The last cell, at most so wide. */
    readonly last: (row: Row, width: number) => string
    readonly screen: Screen
  },
): string {
  const { columns, last, screen } = layout
  const sized = columns.map((column) => {
    const cells = rows.map(column.cell)
    return { ...column, cells, width: Math.max(0, ...cells.map(widthOf)) }
  })
  const filled = fitting(
    sized.filter(({ width }) => width > 0),
    screen.width - MIN_LAST,
  )
  const left = Math.max(MIN_LAST, screen.width - widthOfAll(filled))
  return rows
    .map((row, at) =>
      filled
        .map(({ cells, width, colour, isNumber }) => {
          const text = (isNumber === true ? padStart : padEnd)(cells[at] ?? '', width)
          return colour === undefined ? text : screen.paint(colour, text)
        })
        .concat(last(row, left))
        .join(GAP)
        .trimEnd(),
    )
    .join('\n')
}

/** Without its lesser columns, the last first, until the rest fits. */
function fitting<Sized extends Pick<Column<never>, 'isLesser' | 'goesFirst'> & { width: number }>(
  columns: readonly Sized[],
  room: number,
): readonly Sized[] {
  const lesser =
    columns.find(({ goesFirst }) => goesFirst === true) ??
    columns.findLast(({ isLesser }) => isLesser === true)
  if (lesser === undefined || widthOfAll(columns) <= room) return columns
  return fitting(
    columns.filter((column) => column !== lesser),
    room,
  )
}

function widthOfAll(columns: readonly { readonly width: number }[]): number {
  return columns.reduce((sum, { width }) => sum + width + GAP.length, 0)
}
