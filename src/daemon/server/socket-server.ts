// The Unix socket, for our own commands. The daemon starts work only on `go`, which the caller sends after it has read `ready`.
// A caller that gave up earlier has not sent it, so the work is not done twice.
import { realpathSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { SavestateError } from '../../internal.js'
import { type Line, formatLine, lineReader } from '../json-lines.js'
import { type DaemonRequest, MAX_INPUT_BYTES, parseRequest } from '../requests.js'
import type { Work } from './handlers.js'
import type { Workload } from './workload.js'

/** JSON escapes make a payload longer. */
const MAX_CHARS = 2 * MAX_INPUT_BYTES
/** For the first line, from `ready` to `go`, and to read the answer. */
const PATIENCE_MS = 5000
/** How often the daemon reports that it is working: see SILENCE_MS in client/request.ts. */
const BEAT_MS = 5000
const PROGRESS_EVERY_MS = 100
const MAX_CONNECTIONS = 128

type SocketServerOptions = {
  readonly build: string
  readonly home: string
  /** See `environmentFingerprint`. */
  readonly setting: string
  readonly work: Workload
  /** Undefined if the caller has to do the work. */
  readonly workFor: (request: DaemonRequest) => Work | undefined
  readonly status: () => Line
  readonly isStopping: () => boolean
  readonly log: (error: unknown) => void
  /** The connection is closed when the daemon has ended. */
  readonly stop: (caller: Socket) => void
}

export function socketServer(options: SocketServerOptions): Server {
  const server = createServer((connection) => serve(connection, options))
  server.maxConnections = MAX_CONNECTIONS
  return server
}

function serve(connection: Socket, options: SocketServerOptions): void {
  const send = (line: Line) => {
    if (connection.writable) connection.write(formatLine(line))
  }
  const leave = () => void connection.destroy()
  let timer = setTimeout(leave, PATIENCE_MS)
  const end = (last: Line) => {
    send(last)
    connection.end()
    clearTimeout(timer)
    if (!connection.destroyed) timer = setTimeout(leave, PATIENCE_MS)
  }

  const answer = (line: Line): void => {
    onLine = leave
    if (line['do'] === 'status') return end({ status: options.status() })
    if (line['do'] === 'stop') {
      clearTimeout(timer)
      send({ stopping: true })
      options.stop(connection)
      return
    }
    // From here on a stop waits for this caller.
    const done = options.work.begin()
    const work = accept(line, options)
    if (typeof work === 'string') {
      done()
      return end({ refused: work })
    }
    connection.once('close', done)
    onLine = (next) => {
      const { go, input = '' } = next
      if (go !== true || typeof input !== 'string') return leave()
      onLine = leave
      connection.off('close', done)
      clearTimeout(timer)
      void begin(work, input).finally(done)
    }
    send({ ready: true })
  }
  let onLine = answer

  const begin = async (work: Work, input: string): Promise<void> => {
    options.work.served += 1
    let progressAtMs = 0
    const onProgress = (progress: unknown) => {
      if (performance.now() - progressAtMs < PROGRESS_EVERY_MS) return
      progressAtMs = performance.now()
      send({ progress })
    }
    const beat = setInterval(() => send({ working: true }), BEAT_MS)
    try {
      end({ answer: await work(input, { onProgress }) })
    } catch (error) {
      if (error instanceof SavestateError) return end({ error: error.toJSON() })
      // After any other error the caller does the work itself, and reports the bug.
      options.log(error)
      leave()
    } finally {
      clearInterval(beat)
    }
  }

  const read = lineReader(MAX_CHARS, { line: (line) => onLine(line), fault: leave })
  connection.setEncoding('utf8')
  connection.on('data', (text) => read(String(text)))
  // The work continues if the caller leaves.
  connection.on('error', leave)
  connection.on('close', () => clearTimeout(timer))
}

/** The work, or why the caller has to do it. */
function accept(line: Line, options: SocketServerOptions): Work | string {
  const { build, home, setting } = line
  if (options.isStopping()) return 'stopping'
  if (build !== options.build) return 'build'
  if (setting !== options.setting) return 'setting'
  if (typeof home !== 'string' || realPath(home) !== options.home) return 'home'
  const request = parseRequest(line)
  return (request === undefined ? undefined : options.workFor(request)) ?? 'request'
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    // A path that cannot be resolved is not our store.
    return undefined
  }
}
