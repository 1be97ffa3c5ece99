import { isRunning, readAddress } from '../../daemon/index.js'
import type { StatusResult } from '../../index.js'
import { folderText } from '../render/checkpoint-table.js'
import { command } from '../runtime/command.js'
import { formatBytes, formatCount, formatNumber } from '../terminal/format-numbers.js'
import { printable, printableLine } from '../terminal/escape.js'
import { pruneNotice } from '../render/prune-notice.js'
import { largestText } from '../render/prune-text.js'
import { relativeTime } from '../terminal/relative-time.js'
import type { Screen } from '../terminal/screen.js'
import { quoteForShell } from '../terminal/shell-quote.js'
import { textTable } from '../terminal/table.js'
import { forkText } from '../render/shared-logs.js'
import { untrustedLine } from '../render/untrusted-text.js'

const DEFAULT_LIMIT = 20
const STATES: Readonly<Record<StatusResult['projects'][number]['state'], string>> = {
  live: '',
  orphan: 'the folder is gone',
  unreachable: 'the folder cannot be reached',
}

export const run = command({
  call: async ({ store, hooks }) => (await store()).status(hooks),
  render(result, { options, screen }) {
    const { home, sizeBytes, projects, sessions, failures, watches, unattached, limits } = result
    const limit = options.number('limit') ?? DEFAULT_LIMIT
    const checkpoints = projects.reduce((sum, project) => sum + project.checkpoints, 0)
    const more = projects.length - limit
    return [
      `Store:        ${printable(home)}, ${formatBytes(sizeBytes)} on disk (limit ${formatBytes(limits.maxSizeMb * 1_000_000)})`,
      `Checkpoints:  ${formatNumber(checkpoints)} of ${formatCount(projects.length, 'project')}${unattached === 0 ? '' : `, ${formatNumber(unattached)} of sessions without a project`}`,
      ...(sessions.length === 0 ? [] : [sessionsLine(sessions)]),
      ...daemonLines(home),
      ...watches.map((watch) => watchLine(watch, screen)),
      ...result.remotes.map((remote) => remoteLine(remote, screen)),
      ...(projects.length === 0 ? [] : ['', projectLines(projects.slice(0, limit), screen)]),
      ...(more > 0
        ? [`… and ${formatNumber(more)} more (--limit ${projects.length} shows all)`]
        : []),
      ...aboveLines(result, screen),
      ...untrustedLines(projects.slice(0, limit), screen),
      ...failureLines(failures, screen),
    ].join('\n')
  },
  note: (_result, request) => pruneNotice(request),
})

const DOUBTS: Readonly<Record<string, string>> = {
  overflow: 'too much happened at once',
  'no-cookie': 'the system did not report changes in time',
  'lost-watch': 'a watch was lost',
  'folder-replaced': 'the folder was replaced',
  'mount-changed': 'something was mounted or unmounted',
  'watch-limit': 'the system has no more watches (fs.inotify.max_user_watches)',
  'not-watchable': 'its file system does not report all changes',
}

function watchLine(watch: StatusResult['watches'][number], { paint, now }: Screen): string {
  const { path, pid, isWatching, doubt, doubtAt, fullScans, missed } = watch
  const parts = [`process ${pid}`]
  const why = doubt === null ? '' : (DOUBTS[doubt] ?? doubt)
  if (!isWatching) parts.push(`every save scans everything: ${why}`)
  else if (doubtAt !== null)
    parts.push(
      `${formatCount(fullScans, 'save')} scanned everything, the last ${relativeTime(doubtAt, now)}: ${why}`,
    )
  if (missed > 0)
    parts.push(`${formatCount(missed, 'change')} found that the system did not report`)
  const text = `${isWatching ? 'Watched:     ' : 'Not watched: '} ${folderText(path)} (${parts.join('; ')})`
  return isWatching ? text : paint('yellow', text)
}

/** `Remote team: lacks steps of 2 of 5 sessions, last push …` */
function remoteLine(remote: StatusResult['remotes'][number], { paint, now }: Screen): string {
  const { name, lastPush, failure, forks } = remote
  const counts = remoteCounts(remote)
  const when = lastPush === null ? '' : `, last push ${relativeTime(lastPush, now)}`
  const text = `${`Remote ${name}:`.padEnd(13)} ${counts}${when}`
  const warnings = [
    ...(failure === null
      ? []
      : [
          `Pushing fails since ${relativeTime(failure.since, now)}: ${printableLine(failure.message)}`,
        ]),
    ...forks.map(({ session, fork, at }) => `${relativeTime(at, now)}: ${forkText(session, fork)}`),
  ]
  return [text, ...warnings.map((line) => paint('yellow', `  ${line}`))].join('\n')
}

function remoteCounts({ shared, behind, projects }: StatusResult['remotes'][number]): string {
  if (shared + projects.shared === 0) return 'nothing pushed yet'
  const sessions = formatCount(shared, 'session')
  const checkpoints = shared === 0 ? 'checkpoints' : 'other checkpoints'
  const all = formatCount(projects.shared, 'project')
  const lacks = [
    ...(behind === 0 ? [] : [`steps of ${formatNumber(behind)} of ${sessions}`]),
    ...(projects.behind === 0
      ? []
      : [`${checkpoints} of ${formatNumber(projects.behind)} of ${all}`]),
  ]
  if (lacks.length > 0) return `lacks ${lacks.join(' and ')}`
  const has = [
    ...(shared === 0 ? [] : [sessions]),
    ...(projects.shared === 0 ? [] : [`the ${checkpoints} of ${all}`]),
  ]
  return `has all of ${has.join(' and ')}`
}

function aboveLines({ above }: StatusResult, { paint }: Screen): string[] {
  if (above === null) return []
  const { byBytes, largest } = above
  const advice =
    largest.length === 0
      ? 'The next prune reduces it: `savestate prune`.'
      : `The last prune could not reduce it without taking from smaller projects. The largest are ${largestText(largest)}. Raise the limit with \`savestate config set maxSizeMb N\`, or remove a project with \`savestate -C DIR clear\`.`
  return [paint('yellow', `The store is ${formatBytes(byBytes)} over its limit. ${advice}`)]
}

function untrustedLines(projects: StatusResult['projects'], { paint }: Screen): string[] {
  return projects.flatMap(({ path, untrusted }) => {
    const line = untrustedLine(untrusted, `savestate -C ${quoteForShell(path)} config trust`)
    return line === undefined ? [] : [paint('yellow', `${folderText(path)}: ${line}`)]
  })
}

function failureLines(failures: StatusResult['failures'], { paint, now }: Screen): string[] {
  const prune = failures.find(({ operation }) => operation === 'prune')
  const others = failures.filter(({ operation }) => operation !== 'prune')
  const [newest] = others
  const count = formatCount(others.length, 'failure')
  const when = ({ at }: { readonly at: Date }) => relativeTime(at, now)
  return [
    prune === undefined
      ? []
      : `The store could not prune itself ${when(prune)}: ${printableLine(prune.message)}`,
    newest === undefined
      ? []
      : `${count} in the last 24 h, the newest ${when(newest)}: ${newest.operation}: ${printableLine(newest.message)}`,
  ]
    .flat()
    .map((line) => paint('yellow', line))
}

function sessionsLine(sessions: StatusResult['sessions']): string {
  const interrupted = sessions.filter((session) => session.interrupted).length
  const note = interrupted === 0 ? '' : `, ${formatNumber(interrupted)} interrupted`
  return `Sessions:     ${formatNumber(sessions.length)}${note} (savestate sessions)`
}

function projectLines(projects: StatusResult['projects'], screen: Screen): string {
  return textTable(projects, {
    screen,
    columns: [
      { cell: ({ path }) => folderText(path) },
      {
        cell: ({ sizeBytes }) => (sizeBytes === null ? '?' : formatBytes(sizeBytes)),
        isNumber: true,
      },
      { cell: ({ checkpoints }) => formatCount(checkpoints, 'checkpoint'), isNumber: true },
      { cell: ({ lastTouch }) => relativeTime(lastTouch, screen.now) },
    ],
    last: ({ state }) => screen.paint('yellow', STATES[state]),
  })
}

/** Empty if no daemon runs. Reads the daemon's file, so that the daemon need not answer. */
function daemonLines(home: string): readonly string[] {
  const address = readAddress(home)
  if (address === undefined || !isRunning(address.pid)) return []
  const listens =
    address.port === null
      ? 'listens on a Unix socket only'
      : `listens on a Unix socket and on TCP port ${address.port} of 127.0.0.1`
  return [`Daemon:       process ${address.pid}, ${listens} (savestate daemon status)`]
}
