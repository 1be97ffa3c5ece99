// The Unix socket, for our own commands. A command is begun only on `go`, which the caller says after it has heard
// `ready`: whoever has turned away by then has not said it, and does the work itself, alone.
import { realpathSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { type CommandRun, type CommandRunner, parseCall } from './command-call.js'
import { MAX_INPUT_BYTES } from './hook-call.js'
import { type Line, lineOf, lineReader } from './lines.js'
import type { Workload } from './workload.js'

const MAX_CHARS = 1 << 20
/** For the first word, and from `ready` to `go`. */
const PATIENCE_MS = 5000
/** So often it is said that the work goes on: see SILENCE_MS in forward.ts. */
const BEAT_MS = 5000
/** Larger pieces of an answer are sent in several. */
const PIECE_CHARS = 1 << 16
const MAX_CONNECTIONS = 128

export type SocketServerOptions = {
  readonly build: string
  readonly home: string
  /** See `settingOf`. */
  readonly setting: string
  readonly work: Workload
  readonly run: CommandRunner
  readonly status: () => Line
  readonly isStopping: () => boolean
  readonly log: (error: unknown) => void
  /** The connection is closed when the daemon has ended. */
  readonly stop: (asker: Socket) => void
}

export function socketServer(options: SocketServerOptions): Server {
  const server = createServer((connection) => serve(connection, options))
  server.maxConnections = MAX_CONNECTIONS
  return server
}

function serve(connection: Socket, options: SocketServerOptions): void {
  const say = (line: Line) => {
    if (connection.writable) connection.write(lineOf(line))
  }
  const timer = setTimeout(() => connection.destroy(), PATIENCE_MS)
  let ready: { readonly run: CommandRun; readonly done: () => void } | undefined
  let isAsked = false
  const input: string[] = []
  let inputChars = 0

  const answer = async (line: Line): Promise<void> => {
    if (line['do'] === 'status') {
      say({ status: options.status() })
      connection.end()
    } else if (line['do'] === 'stop') {
      clearTimeout(timer)
      say({ stopping: true })
      options.stop(connection)
    } else {
      // Held from here on, so that a stop waits for a caller who has been told to go on.
      const done = options.work.begin()
      connection.once('close', () => {
        if (ready !== undefined) done()
      })
      const run = await accepted(line, options).catch((error: unknown) => {
        options.log(error)
        return 'fault'
      })
      if (typeof run === 'string' || connection.destroyed) {
        done()
        say({ refused: run })
        connection.end()
        return
      }
      ready = { run, done }
      say({ ready: true })
    }
  }

  const begin = async ({ run, done }: NonNullable<typeof ready>): Promise<void> => {
    ready = undefined
    clearTimeout(timer)
    options.work.count()
    const tell = (name: 'out' | 'err') => (text: string) => {
      for (let at = 0; at < text.length; at += PIECE_CHARS)
        say({ [name]: text.slice(at, at + PIECE_CHARS) })
    }
    const beat = setInterval(() => say({ working: true }), BEAT_MS)
    try {
      say({ exit: await run({ input: input.join(''), out: tell('out'), err: tell('err') }) })
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
          answer(line).catch(fail)
        } else if (ready !== undefined && line['go'] === true) begin(ready).catch(fail)
        else if (ready !== undefined && isPiece(line)) take(line.in)
        else connection.destroy()
      },
      fault: () => connection.destroy(),
    },
  )
  connection.setEncoding('utf8')
  connection.on('data', (text) => read(String(text)))
  // Whoever goes away in the middle leaves work that goes on to its end.
  connection.on('error', () => connection.destroy())
  connection.on('close', () => clearTimeout(timer))
}

/** Of what the caller has on stdin. */
function isPiece(line: Line): line is { readonly in: string } {
  return typeof line['in'] === 'string'
}

/** How to carry it out, or why not. */
async function accepted(line: Line, options: SocketServerOptions): Promise<CommandRun | string> {
  const { build, home, setting } = line
  if (options.isStopping()) return 'stopping'
  if (build !== options.build) return 'build'
  if (setting !== options.setting) return 'setting'
  if (typeof home !== 'string' || realPath(home) !== options.home) return 'home'
  const call = parseCall(line)
  if (call === undefined) return 'form'
  return (await options.run(call)) ?? 'command'
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    // What cannot be looked at is not our store.
    return undefined
  }
}
