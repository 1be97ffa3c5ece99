// Sessions as a table.
import type { SessionView } from '../../index.js'
import { folderText } from './checkpoint-table.js'
import { formatCount } from '../terminal/format-numbers.js'
import { printableLine } from '../terminal/escape.js'
import { relativeTime } from '../terminal/relative-time.js'
import type { Screen } from '../terminal/screen.js'
import { textTable } from '../terminal/table.js'
import { cutEnd, cutStart } from '../terminal/text-width.js'

const AGENT_WIDTH = 20
/** On a narrower terminal lines are too long: without the id a user could not resume the session. */
const LEAST_ID_WIDTH = 12
const STATUS_WIDTH = { least: 'interrupted'.length, most: 30 }
const PROJECT_WIDTH = 16

export function sessionsTable(sessions: readonly SessionView[], screen: Screen): string {
  const { least, most } = STATUS_WIDTH
  const statusWidth = Math.min(most, Math.max(least, screen.width / 4))
  // Users type ids, so an id is cut only if it would displace status and project.
  const free = Math.min(screen.width / 2, screen.width - statusWidth - PROJECT_WIDTH)
  const idWidth = Math.max(LEAST_ID_WIDTH, free)
  return textTable(sessions, {
    screen,
    columns: [
      { cell: ({ id }) => cutEnd(printableLine(id), idWidth), color: 'yellow' },
      { cell: ({ agent }) => cutEnd(printableLine(agent ?? ''), AGENT_WIDTH), isLesser: true },
      { cell: (session) => cutEnd(statusText(session), statusWidth) },
      { cell: ({ steps }) => formatCount(steps, 'step'), isNumber: true, isLesser: true },
      { cell: ({ updatedAt }) => relativeTime(updatedAt, screen.now), isLesser: true },
    ],
    last: ({ project }, width) =>
      screen.paint('dim', project === null ? '' : cutStart(folderText(project), width)),
  })
}

function statusText({ interrupted, status }: SessionView): string {
  return interrupted ? 'interrupted' : printableLine(status)
}
