import {
  findDaemon,
  loadServer,
  startDaemonFor,
  stopDaemon,
  TAKEN,
  unresponsive,
} from '../../daemon/index.js'
import { daemonLockHolder, SavestateError, storeHome } from '../../internal.js'
import { anyClasses } from '../runtime/opaque-classes.js'
import { command, type Request } from '../runtime/command.js'
import { formatBytes, formatCount } from '../terminal/format-numbers.js'
import { displayPath, printable } from '../terminal/escape.js'
import { relativeTime } from '../terminal/relative-time.js'

type Holder = { readonly pid: number | null }

type DaemonAnswer = {
  readonly running: boolean
  readonly started?: boolean
  readonly stopped?: boolean
  readonly status?: Readonly<Record<string, unknown>>
  /** The process that holds the lock of the daemon and does not answer. */
  readonly unresponsive?: Holder | undefined
  /** The exit code of `run`. */
  readonly code?: number
  /** For `run`: the process that is the daemon already. */
  readonly takenBy?: Holder | undefined
}

export const run = command<DaemonAnswer>({
  async call(request) {
    const action = request.argument(0)
    if (request.options.has('http') && action !== 'start' && action !== 'run')
      throw new SavestateError('BAD_INPUT', `\`daemon ${action}\` does not take --http`, {
        hint: 'Give it to `daemon start` or `daemon run`.',
      })
    if (action === 'start') return start(request)
    if (action === 'stop') return { running: false, stopped: await stopDaemon() }
    return action === 'run' ? runInForeground(request) : readStatus()
  },
  json: ({ code: _code, status, ...answer }) => ({ ...answer, ...status }),
  render(answer, request) {
    if (answer.takenBy !== undefined) return takenText(answer.takenBy)
    if (answer.code !== undefined) return ''
    if (answer.unresponsive !== undefined) {
      const { message, hint } = unresponsive(answer.unresponsive)
      return `${message}. ${hint}`
    }
    if (answer.stopped !== undefined)
      return answer.stopped ? 'The daemon has stopped.' : 'The daemon is not running.'
    if (!answer.running) return 'The daemon is not running. Start it with: savestate daemon start'
    return statusText(answer, request)
  },
  exitCode: ({ code }) => code ?? 0,
})

async function start({ options }: Request): Promise<DaemonAnswer> {
  const http = options.has('http')
  const { status, isNew } = await startDaemonFor(await storeHome(), { http })
  return { running: true, started: isNew, status }
}

async function runInForeground({ options }: Request): Promise<DaemonAnswer> {
  const { serve } = await loadServer()
  if (await serve({ http: options.has('http'), classes: anyClasses }))
    return { running: false, code: 0 }
  // The other daemon may have ended in the meantime.
  const takenBy = (await daemonLockHolder()) ?? { pid: null }
  return { running: false, code: TAKEN, takenBy }
}

async function readStatus(): Promise<DaemonAnswer> {
  const found = await findDaemon()
  if (found?.status !== undefined) return { running: true, status: found.status }
  return { running: false, unresponsive: await daemonLockHolder() }
}

function takenText({ pid }: Holder): string {
  const who = pid === null ? 'Another process' : `Process ${pid}`
  return `${who} is already the daemon of this store. See: savestate daemon status`
}

function statusText({ started, status = {} }: DaemonAnswer, { screen }: Request): string {
  const { pid, version, startedAt, port, memoryBytes, idleMinutes, projects } = status
  const since = relativeTime(String(startedAt), screen.now)
  const verb =
    started === false ? 'is running already' : started === true ? 'has started' : 'is running'
  const paths = Array.isArray(projects) ? projects.map(pathOf) : []
  return [
    `The daemon ${verb}: process ${String(pid)}, version ${printable(String(version))}, since ${since}.`,
    typeof port === 'number'
      ? `It listens on a Unix socket in the store and on TCP port ${port} of 127.0.0.1, for hooks over HTTP.`
      : 'It listens on a Unix socket in the store, and on no TCP port.',
    `It uses ${formatBytes(Number(memoryBytes))} of memory and ends after ${formatCount(Number(idleMinutes), 'minute')} without a request.`,
    ...paths.map((path) => `  ${path}`),
  ].join('\n')
}

function pathOf(project: unknown): string {
  const isProject = typeof project === 'object' && project !== null && 'path' in project
  return isProject ? displayPath(String(project.path)) : ''
}
