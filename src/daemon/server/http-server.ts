// HTTP on the loopback interface, for hooks. A client can report an event, save, and read the status; nothing else.
import { existsSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { isRecord, tryParseJson } from '../../base/index.js'
import { type ErrorCode, type ErrorText, SavestateError } from '../../internal.js'
import { MAX_INPUT_BYTES, type SaveRequest } from '../requests.js'
import { BodyTooLarge, readBody } from './read-body.js'
import type { Handlers } from './handlers.js'
import { checkHeaders } from './http-access.js'
import type { Workload } from './workload.js'

const MAX_SAVE_BYTES = 64 << 10
const MAX_CONNECTIONS = 64
const HEADERS_MS = 5000
const REQUEST_MS = 10_000
const IDLE_MS = 120_000
/** The HTTP status of each error code; 500 for all others. */
const STATUSES: Readonly<Partial<Record<ErrorCode, number>>> = {
  BAD_INPUT: 400,
  PROJECT_REFUSED: 403,
  PROJECT_MISSING: 404,
  PROJECT_BUSY: 409,
  STORE_BUSY: 409,
  DISK_FULL: 507,
}

type HttpServerOptions = {
  readonly token: string
  readonly work: Workload
  readonly handlers: Pick<Handlers, 'save' | 'hookFor'>
  readonly status: () => unknown
  readonly isStopping: () => boolean
  readonly log: (error: unknown) => void
}

type Answer = {
  readonly status: number
  /** JSON, or empty. */
  readonly text: string
  /** Close the connection after it. */
  readonly isLast?: boolean
}

export function httpServer(options: HttpServerOptions): Server {
  const unauthenticated = new UnauthenticatedSockets()
  const server = createServer(
    {
      maxHeaderSize: 8 << 10,
      headersTimeout: HEADERS_MS,
      requestTimeout: REQUEST_MS,
      keepAliveTimeout: IDLE_MS,
      connectionsCheckingInterval: 1000,
    },
    (request, response) => {
      const done = options.work.begin()
      void answerTo(request, options, unauthenticated)
        .then((answer) => send(response, answer, { isStopping: options.isStopping() }))
        .catch((error: unknown) => {
          options.log(error)
          response.destroy()
        })
        .finally(done)
    },
  )
  server.on('connection', (socket: Socket) => unauthenticated.add(socket))
  return server
}

/**
 * Connections that have not sent the token yet, oldest first. If too many connections are open, a new one replaces the oldest
 * of these, so that another user of the machine cannot block requests by opening connections.
 */
class UnauthenticatedSockets {
  readonly #sockets = new Set<Socket>()
  #open = 0

  add(socket: Socket): void {
    this.#sockets.add(socket)
    this.#open += 1
    socket.once('close', () => {
      this.#sockets.delete(socket)
      this.#open -= 1
    })
    const [oldest] = this.#sockets
    if (this.#open <= MAX_CONNECTIONS || oldest === undefined) return
    this.#sockets.delete(oldest)
    oldest.destroy()
  }

  /** Call this once the token was checked. */
  admit(socket: Socket): void {
    this.#sockets.delete(socket)
  }
}

async function answerTo(
  request: IncomingMessage,
  options: HttpServerOptions,
  unauthenticated: UnauthenticatedSockets,
): Promise<Answer> {
  const { socket, headers } = request
  const refusal = checkHeaders(headers, { port: socket.localPort ?? 0, token: options.token })
  if (refusal !== undefined) return failed(refusal.status, { code: 'ACCESS_REFUSED', ...refusal })
  unauthenticated.admit(socket)
  const path = (request.url ?? '').split('?')[0] ?? ''
  const route = routeOf(path, options)
  if (route === undefined)
    return failed(404, {
      code: 'BAD_INPUT',
      message: 'Unknown path',
      hint: 'Known paths: /v1/status, /v1/save, /v1/hook/<agent>/<event>.',
    })
  if (request.method !== route.method)
    return failed(405, {
      code: 'BAD_INPUT',
      message: `${path} does not take this method`,
      hint: `Use ${route.method}.`,
    })
  if (options.isStopping())
    return failed(503, {
      code: 'DAEMON_FAILED',
      message: 'The daemon is shutting down',
      hint: 'Start it again with `savestate daemon start`.',
    })
  options.work.served += 1
  try {
    return await route.answer(request)
  } catch (error) {
    if (error instanceof BodyTooLarge)
      return failed(413, { code: 'BAD_INPUT', message: error.message, hint: null })
    if (error instanceof SavestateError) return failed(STATUSES[error.code] ?? 500, error.toJSON())
    options.log(error)
    const message = error instanceof Error ? error.message : String(error)
    const hint = 'This is a bug in Savestate. The log of the daemon has the details.'
    return json(500, { error: { code: 'INTERNAL', message, hint } })
  }
}

type Route = { readonly method: string; answer(request: IncomingMessage): Promise<Answer> }

function routeOf(path: string, { status, handlers }: HttpServerOptions): Route | undefined {
  if (path === '/v1/status') return { method: 'GET', answer: async () => json(200, status()) }
  if (path === '/v1/save')
    return {
      method: 'POST',
      async answer(request) {
        const save = parseSave(await readBody(request, MAX_SAVE_BYTES))
        return json(200, (await handlers.save(save)).result)
      },
    }
  const [, agent = '', eventName = ''] =
    /^\/v1\/hook\/([a-z]{1,40})\/([\w.]{1,100})$/.exec(path) ?? []
  const hook = handlers.hookFor(agent, { eventName })
  if (hook === undefined) return undefined
  return {
    method: 'POST',
    async answer(request) {
      // A body that is too large gets the answer for a malformed one: the agent continues.
      const input = await readBody(request, MAX_INPUT_BYTES).catch((error: unknown) => {
        if (error instanceof BodyTooLarge) return undefined
        throw error
      })
      // HTTP has no stderr. Failures are also in the status of the store.
      return { status: 200, text: (await hook(input)).stdout, isLast: input === undefined }
    },
  }
}

/** Throws BAD_INPUT, or PROJECT_MISSING. */
function parseSave(text: string): SaveRequest {
  const given = tryParseJson(text)
  if (!isRecord(given)) throw malformed('it is not a JSON object')
  const { path, reason, name, ...others } = given
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) throw malformed(`it has an unknown key ${JSON.stringify(unknown)}`)
  for (const [key, value] of Object.entries({ path, reason, name }))
    if (value !== undefined && typeof value !== 'string') throw malformed(`${key} must be a string`)
  if (typeof path !== 'string' || !path.startsWith('/'))
    throw malformed('path must be the absolute path of a folder')
  // For a missing path, projectFor would return the project of its parent, which includes unrelated siblings.
  if (!existsSync(`${path}/.`))
    throw new SavestateError('PROJECT_MISSING', `There is no folder ${JSON.stringify(path)}`, {
      hint: 'path is any folder in the project.',
    })
  return {
    do: 'save',
    folder: path,
    input: {
      ...(typeof reason === 'string' ? { reason } : {}),
      ...(typeof name === 'string' ? { name, namedBy: 'agent' } : {}),
    },
  }
}

function malformed(what: string): SavestateError {
  return new SavestateError('BAD_INPUT', `The body cannot be used: ${what}`, {
    hint: 'Send {"path", "reason", "name"}; the last two are optional.',
  })
}

function send(
  response: ServerResponse,
  { status, text, isLast = false }: Answer,
  { isStopping }: { readonly isStopping: boolean },
): void {
  // Read nothing more from a client that was refused.
  const isOver = isLast || isStopping || status === 401 || status === 403 || status === 413
  response.writeHead(status, {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(text),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    ...(isOver ? { Connection: 'close' } : {}),
  })
  response.end(text)
}

function json(status: number, body: unknown): Answer {
  return { status, text: `${JSON.stringify(body)}\n` }
}

function failed(status: number, { code, message, hint }: ErrorText): Answer {
  return json(status, { error: { code, message, hint } })
}
