import {
  findDaemon,
  loadServer,
  startDaemonFor,
  stopDaemon,
  TAKEN,
  unresponsive,
} from '../../daemon/index.js'
import { fieldsOf } from '../../base/index.js'
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
    const http = request.options.has('http')
    if (http && action !== 'start' && action !== 'run')
      throw new SavestateError('BAD_INPUT', `\`daemon ${action}\` does not take --http`, {
        hint: 'Give it to `daemon start` or `daemon run`.',
      })
    if (action === 'start') {
      const { status, isNew } = await startDaemonFor(await storeHome(), { http })
      return { running: true, started: isNew, status }
    }
    if (action === 'stop') return { running: false, stopped: await stopDaemon() }
    if (action === 'run') return runInForeground(http)
    const status = (await findDaemon())?.status
    return status === undefined
      ? { running: false, unresponsive: await daemonLockHolder() }
      : { running: true, status }
  },
  json: ({ code: _code, status, ...answer }) => ({ ...answer, ...status }),
  render(answer, request) {
    const { takenBy, code, unresponsive: holder, stopped, running } = answer
    if (takenBy !== undefined) {
      const who = takenBy.pid === null ? 'Another process' : `Process ${takenBy.pid}`
      return `${who} is already the daemon of this store. See: savestate daemon status`
    }
    if (code !== undefined) return ''
    if (holder !== undefined) {
      const { message, hint } = unresponsive(holder)
      return `${message}. ${hint}`
    }
    if (stopped === true) return 'The daemon has stopped.'
    if (stopped === false) return 'The daemon is not running.'
    if (!running) return 'The daemon is not running. Start it with: savestate daemon start'
    return statusText(answer, request)
  },
  exitCode: ({ code }) => code ?? 0,
})

async function runInForeground(http: boolean): Promise<DaemonAnswer> {
  const { serve } = await loadServer()
  if (await serve({ http, classes: anyClasses })) return { running: false, code: 0 }
  // The other daemon may have ended in the meantime.
  const takenBy = (await daemonLockHolder()) ?? { pid: null }
  return { running: false, code: TAKEN, takenBy }
}

function statusText({ started, status = {} }: DaemonAnswer, { screen }: Request): string {
  const { pid, version, startedAt, port, memoryBytes, idleMinutes, projects } = status
  const since = relativeTime(String(startedAt), screen.now)
  const verb =
    started === false ? 'is running already' : started === true ? 'has started' : 'is running'
  const paths = (Array.isArray(projects) ? projects : []).map(
    (project) => fieldsOf(project)['path'],
  )
  return [
    `The daemon ${verb}: process ${String(pid)}, version ${printable(String(version))}, since ${since}.`,
    typeof port === 'number'
      ? `It listens on a Unix socket in the store and on TCP port ${port} of 127.0.0.1, for hooks over HTTP.`
      : 'It listens on a Unix socket in the store, and on no TCP port.',
    `It uses ${formatBytes(Number(memoryBytes))} of memory and ends after ${formatCount(Number(idleMinutes), 'minute')} without a request.`,
    ...paths.map((path) => `  ${displayPath(String(path))}`),
  ].join('\n')
}
