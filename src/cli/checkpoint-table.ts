// Checkpoints as a table; what is longest and least regular, the reason, stands last and is cut.
import type { CheckpointView } from '../index.js'
import { counted, lines } from './figures.js'
import type { Colour } from './paint.js'
import { pathForPeople, printableLine } from './printable.js'
import { relativeTime } from './relative-time.js'
import type { Screen } from './screen.js'
import { shortIds } from './short-id.js'
import { cutEnd, cutStart, padEnd, padStart, widthOf } from './text-width.js'

const FOLDER_WIDTH = 60
const GAP = '  '
/** Fewer columns than this say nothing: other things give way first. */
const MIN_REASON = 12

type Row = CheckpointView & { readonly project?: string }
type Column = {
  readonly cell: (row: Row, index: number) => string
  readonly colour?: Colour
  readonly isNumber?: boolean
  /** Left out first on a narrow terminal. */
  readonly isLesser?: boolean
}

/** Numbered from 1, unless they are of several projects: then with their folders. */
export function checkpointTable(checkpoints: readonly Row[], screen: Screen): string {
  const ids = shortIds(checkpoints.map(({ id }) => id))
  const columns: readonly Column[] = [
    { cell: (row, at) => (row.project === undefined ? `${at + 1}` : ''), isNumber: true },
    { cell: ({ id }) => ids.get(id) ?? id, colour: 'yellow' },
    { cell: ({ createdAt }) => relativeTime(createdAt, screen.now), isLesser: true },
    { cell: ({ project }) => folderText(project) },
    { cell: changesText, colour: 'dim', isLesser: true },
  ]
  const sized = columns.map((column) => {
    const cells = checkpoints.map(column.cell)
    return { ...column, cells, width: Math.max(0, ...cells.map(widthOf)) }
  })
  const filled = fitting(
    sized.filter(({ width }) => width > 0),
    screen.width - MIN_REASON,
  )
  const left = Math.max(MIN_REASON, screen.width - widthOfAll(filled))
  return checkpoints
    .map((row, at) =>
      filled
        .map(({ cells, width, colour, isNumber }) => {
          const text = (isNumber === true ? padStart : padEnd)(cells[at] ?? '', width)
          return colour === undefined ? text : screen.paint(colour, text)
        })
        .concat(whatText(row, { screen, width: left }))
        .join(GAP)
        .trimEnd(),
    )
    .join('\n')
}

/** Without its lesser columns, the last first, until the rest fits. */
function fitting<Sized extends Column & { readonly width: number }>(
  columns: readonly Sized[],
  room: number,
): readonly Sized[] {
  const lesser = columns.findLast(({ isLesser }) => isLesser === true)
  if (lesser === undefined || widthOfAll(columns) <= room) return columns
  return fitting(
    columns.filter((column) => column !== lesser),
    room,
  )
}

function widthOfAll(columns: readonly { readonly width: number }[]): number {
  return columns.reduce((sum, { width }) => sum + width + GAP.length, 0)
}

function changesText(row: Row): string {
  return `${counted(row.files, 'file')} ${lines(row)}`
}

export function folderText(project: string | undefined): string {
  return project === undefined ? '' : cutStart(pathForPeople(project), FOLDER_WIDTH)
}

/** Pin, name and reason; the kind where the reason does not say it. */
function whatText(
  { pinned, name, reason, kind }: Row,
  { screen, width }: { readonly screen: Screen; readonly width: number },
): string {
  const mark = `${pinned ? '[pinned] ' : ''}${name === null ? '' : `[${printableLine(name)}] `}`
  const text = printableLine(reason ?? '')
  const isSaid = kind === 'save' || text.startsWith(kind)
  const shown = cutEnd(`${mark}${isSaid ? '' : `${kind}${text === '' ? '' : ': '}`}${text}`, width)
  return screen.paint('cyan', shown.slice(0, mark.length)) + shown.slice(mark.length)
}
