// Checkpoints as a table: of a project, of all projects, or of one session.
import type { CheckpointView } from '../index.js'
import { counted, lines } from './figures.js'
import { pathForPeople, printableLine } from './printable.js'
import { relativeTime } from './relative-time.js'
import type { Screen } from './screen.js'
import { shortIds } from './short-id.js'
import { type Column, textTable } from './text-table.js'
import { cutEnd, cutStart } from './text-width.js'

const FOLDER_WIDTH = 60
const MIN_SESSION = 12
const AUTHOR_WIDTH = 16

type Row = CheckpointView & {
  /** Where there are several; null for a checkpoint of no project. */
  readonly project?: string | null
  /** Needed where the rows are not all that there are. */
  readonly shortId?: string
}

/** Numbered from 1, unless they are of several projects: then with their folders. */
export function checkpointTable(checkpoints: readonly Row[], screen: Screen): string {
  const width = Math.max(MIN_SESSION, screen.width / 6)
  return tableOf(checkpoints, {
    screen,
    first: { cell: (row, at) => (row.project === undefined ? `${at + 1}` : ''), isNumber: true },
    session: ({ session, step }) =>
      session === null ? '' : `${cutEnd(printableLine(session), width)}:${step}`,
  })
}

/** All of one session, by step. No numbers: those are places in the list of the project. */
export function stepTable(checkpoints: readonly Row[], screen: Screen): string {
  return tableOf(checkpoints, {
    screen,
    first: { cell: ({ step }) => `step ${step}`, isNumber: true },
    session: () => '',
  })
}

function tableOf(
  checkpoints: readonly Row[],
  table: {
    readonly screen: Screen
    readonly first: Column<Row>
    readonly session: (row: Row) => string
  },
): string {
  const { screen, first, session } = table
  // Where nobody but the person was at work, there is nothing to tell apart.
  const hasAuthors = checkpoints.some(({ author }) => !ALONE.includes(author))
  const ids = shortIds(checkpoints.map(({ id }) => id))
  return textTable(checkpoints, {
    screen,
    columns: [
      first,
      { cell: ({ id, shortId }) => shortId ?? ids.get(id) ?? id, colour: 'yellow' },
      { cell: ({ createdAt }) => relativeTime(createdAt, screen.now), isLesser: true },
      { cell: ({ project }) => folderText(project) },
      { cell: session, isLesser: true, goesFirst: hasAuthors },
      { cell: (row) => (hasAuthors ? authorCell(row) : ''), isLesser: true },
      { cell: holdsText, colour: 'dim', isLesser: true },
    ],
    last: (row, width) => whatText(row, { screen, width }),
  })
}

const ALONE: readonly (string | null)[] = [null, 'you', 'rewind']

function authorCell({ author }: Row): string {
  return cutEnd(printableLine(author ?? ''), AUTHOR_WIDTH)
}

/** How the files changed, and whether there is a state. */
function holdsText(row: Row): string {
  const changes = `${counted(row.files, 'file')} ${lines(row)}`
  if (!row.hasState) return row.hasFiles ? changes : ''
  return row.hasFiles ? `${changes}, state` : 'state'
}

export function folderText(project: string | null | undefined): string {
  if (project === undefined) return ''
  return project === null ? '(no folder)' : cutStart(pathForPeople(project), FOLDER_WIDTH)
}

/** Pin, name and reason; the kind where the reason does not say it. */
function whatText(
  { pinned, name, reason, kind, damaged }: Row,
  { screen, width }: { readonly screen: Screen; readonly width: number },
): string {
  const state = `${damaged === true ? '[damaged] ' : ''}${pinned ? '[pinned] ' : ''}`
  const mark = `${state}${name === null ? '' : `[${printableLine(name)}] `}`
  const text = printableLine(reason ?? '')
  const isSaid = kind === 'save' || text.startsWith(kind)
  const shown = cutEnd(`${mark}${isSaid ? '' : `${kind}${text === '' ? '' : ': '}`}${text}`, width)
  return screen.paint('cyan', shown.slice(0, mark.length)) + shown.slice(mark.length)
}
