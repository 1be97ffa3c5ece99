// The sessions of a remote as a table.
import type { RemoteSession } from '../../index.js'
import { printableLine } from '../terminal/escape.js'
import { formatCount } from '../terminal/format-numbers.js'
import { relativeTime } from '../terminal/relative-time.js'
import type { Screen } from '../terminal/screen.js'
import { textTable } from '../terminal/table.js'
import { cutEnd } from '../terminal/text-width.js'

const AGENT_WIDTH = 20
const LEAST_ID_WIDTH = 12
const STATUS_WIDTH = 20

export function remoteSessionsTable(sessions: readonly RemoteSession[], screen: Screen): string {
  const idWidth = Math.max(LEAST_ID_WIDTH, screen.width / 2)
  return textTable(sessions, {
    screen,
    columns: [
      { cell: ({ id }) => cutEnd(printableLine(id), idWidth), color: 'yellow' },
      { cell: ({ agent }) => cutEnd(printableLine(agent ?? ''), AGENT_WIDTH), isLesser: true },
      { cell: ({ status }) => cutEnd(printableLine(status), STATUS_WIDTH) },
      { cell: ({ steps }) => formatCount(steps, 'step'), isNumber: true, isLesser: true },
      { cell: ({ updatedAt }) => relativeTime(updatedAt, screen.now), isLesser: true },
    ],
    last: (session, width) => screen.paint('dim', cutEnd(locationOf(session), width)),
  })
}

/** `app, on laptop, also here` */
function locationOf({ project, holder, isHere }: RemoteSession): string {
  return [
    ...(project === null ? [] : [printableLine(project)]),
    ...(holder === null ? [] : [`on ${printableLine(holder.host)}`]),
    ...(isHere ? ['also here'] : []),
  ].join(', ')
}
