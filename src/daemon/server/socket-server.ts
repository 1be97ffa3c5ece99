// The Unix socket, for our own commands. The daemon starts work only on `go`, which the caller sends after it has read `ready`.
// A caller that gave up earlier has not sent it, so the work is not done twice.
import { realpathSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { SavestateError } from '../../internal.js'
import { type Line, formatLine, lineReader } from '../json-lines.js'
import { type DaemonRequest, MAX_INPUT_BYTES, parseRequest } from '../requests.js'
import type { Work } from './handlers.js'
import type { Workload } from './workload.js'

const MAX_CHARS = 1 << 20
/** For the first line, and from `ready` to `go`. */
const PATIENCE_MS = 5000
/** How often the daemon reports that it is working: see SILENCE_MS in client/request.ts. */
const BEAT_MS = 5000
const PROGRESS_EVERY_MS = 100
const MAX_CONNECTIONS = 128

export type SocketServerOptions = {
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
  const timer = setTimeout(() => connection.destroy(), PATIENCE_MS)
  let ready: { readonly work: Work; readonly done: () => void } | undefined
  let isAsked = false
  const input: string[] = []
  let inputChars = 0

  const answer = (line: Line): void => {
    if (line['do'] === 'status') {
      send({ status: options.status() })
      connection.end()
    } else if (line['do'] === 'stop') {
      clearTimeout(timer)
      send({ stopping: true })
      options.stop(connection)
    } else {
      // From here on a stop waits for this caller.
      const done = options.work.begin()
      connection.once('close', () => {
        if (ready !== undefined) done()
      })
      const work = accept(line, options)
      if (typeof work === 'string') {
        done()
        send({ refused: work })
        connection.end()
        return
      }
      ready = { work, done }
      send({ ready: true })
    }
  }

  const begin = async ({ work, done }: NonNullable<typeof ready>): Promise<void> => {
    ready = undefined
    clearTimeout(timer)
    options.work.count()
    let progressAtMs = 0
    const onProgress = (progress: unknown) => {
      if (performance.now() - progressAtMs < PROGRESS_EVERY_MS) return
      progressAtMs = performance.now()
      send({ progress })
    }
    const beat = setInterval(() => send({ working: true }), BEAT_MS)
    try {
      send({ answer: await work(input.join(''), { onProgress }) })
    } catch (error) {
      // After any other error the caller does the work itself, and reports the bug.
      if (error instanceof SavestateError) send({ error: error.toJSON() })
      else throw error
    } finally {
      clearInterval(beat)
      connection.end()
      done()
    }
  }
  const fail = (error: unknown) => {
    options.log(error)
    connection.destroy()
  }
  const take = (piece: string) => {
    input.push(piece)
    inputChars += piece.length
    if (inputChars > MAX_INPUT_BYTES) connection.destroy()
  }

  const read = lineReader(
    { maxChars: MAX_CHARS },
    {
      line(line) {
        if (!isAsked) {
          isAsked = true
          answer(line)
        } else if (ready !== undefined && line['go'] === true) begin(ready).catch(fail)
        else if (ready !== undefined && isPiece(line)) take(line.in)
        else connection.destroy()
      },
      fault: () => connection.destroy(),
    },
  )
  connection.setEncoding('utf8')
  connection.on('data', (text) => read(String(text)))
  // The work continues if the caller leaves.
  connection.on('error', () => connection.destroy())
  connection.on('close', () => clearTimeout(timer))
}

/** A part of the payload. */
function isPiece(line: Line): line is { readonly in: string } {
  return typeof line['in'] === 'string'
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
