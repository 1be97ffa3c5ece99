// From a request to its answer: the checks, then a file of the page, a method, the events or a download. Every path is a constant.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { BodyTooLarge } from '../../daemon/index.js'
import { type ErrorCode, SavestateError } from '../../internal.js'
import type { PageContext } from '../methods/method.js'
import { type Gate, refused, refuseForeign, refuseHost, refuseType } from './access.js'
import { type Answer, failureAnswer, jsonAnswer, send } from './answer.js'
import { downloadFile } from './download.js'
import type { EventStreams } from './events.js'
import type { IdleEnd } from './idle-end.js'
import { readJson } from './read-json.js'
import type { RunningRestores } from './running-restores.js'
import type { StaticFiles } from './static-files.js'

export type PageServer = {
  readonly token: string
  readonly isReadOnly: boolean
  readonly files: StaticFiles
  readonly events: EventStreams
  readonly idle: IdleEnd
  readonly restores: RunningRestores
  /** Loaded after the server listens. */
  readonly methods: () => Promise<typeof import('../methods/index.js')>
  /** Rejects if the store cannot be opened. */
  readonly context: () => Promise<PageContext>
  /** A page with the token has sent a request. */
  readonly onPage: () => void
  /** A bug: the error has no code. */
  readonly report: (error: unknown) => void
}

const API = '/api/'
const HEADERS_MS = 5000
const REQUEST_MS = 30_000
const MAX_CONNECTIONS = 256

/** The HTTP status of each error code; 500 for all others. */
const STATUSES: Readonly<Partial<Record<ErrorCode, number>>> = {
  ACCESS_REFUSED: 403,
  BAD_INPUT: 400,
  CHECKPOINT_AMBIGUOUS: 400,
  CHECKPOINT_DAMAGED: 409,
  CHECKPOINT_PARTIAL: 409,
  CHECKPOINT_UNKNOWN: 404,
  DISK_FULL: 507,
  KEY_MISSING: 409,
  NOTHING_TO_REDO: 409,
  NOTHING_TO_UNDO: 409,
  PLAN_STALE: 409,
  PROJECT_BUSY: 409,
  PROJECT_MISSING: 404,
  PROJECT_REFUSED: 403,
  REWIND_CONFLICT: 409,
  SESSION_BUSY: 409,
  SESSION_UNKNOWN: 404,
  STORE_BUSY: 409,
}

export function createPageServer(page: PageServer): Server {
  const server = createServer(
    {
      maxHeaderSize: 16 << 10,
      headersTimeout: HEADERS_MS,
      requestTimeout: REQUEST_MS,
      connectionsCheckingInterval: 1000,
    },
    (request, response) => void handle(request, response, page),
  )
  server.maxConnections = MAX_CONNECTIONS
  return server
}

async function handle(
  request: IncomingMessage,
  response: ServerResponse,
  page: PageServer,
): Promise<void> {
  try {
    const answer = await answerTo(request, response, page)
    if (answer !== undefined) await send(request, response, answer)
  } catch (error) {
    page.report(error)
    response.destroy()
  }
}

/** Undefined for a stream, which is answered already. */
async function answerTo(
  request: IncomingMessage,
  response: ServerResponse,
  page: PageServer,
): Promise<Answer | undefined> {
  const gate = { port: request.socket.localPort ?? 0, token: page.token }
  const wrongHost = refuseHost(request, gate)
  if (wrongHost !== undefined) return failureAnswer(wrongHost.status, wrongHost)
  const [path = '/', query = ''] = (request.url ?? '/').split('?')
  if (!path.startsWith(API)) return answerFile(request, path, page)
  try {
    return await answerApi(request, response, { page, gate, name: path.slice(API.length), query })
  } catch (error) {
    if (error instanceof BodyTooLarge) return failureAnswer(413, refused(413, error.message, null))
    if (error instanceof SavestateError)
      return failureAnswer(STATUSES[error.code] ?? 500, error.toJSON())
    page.report(error)
    const message = error instanceof Error ? error.message : String(error)
    const hint = 'This is a bug in Savestate. The terminal with `savestate ui` has the details.'
    return failureAnswer(500, { code: 'INTERNAL', message, hint })
  }
}

async function answerFile(
  request: IncomingMessage,
  path: string,
  { files }: PageServer,
): Promise<Answer> {
  if (request.method !== 'GET' && request.method !== 'HEAD') return wrongMethod('GET')
  return (await files.answer(request, path)) ?? NOT_FOUND
}

type ApiRequest = {
  readonly page: PageServer
  readonly gate: Gate
  /** The path after `/api/`. */
  readonly name: string
  readonly query: string
}

async function answerApi(
  request: IncomingMessage,
  response: ServerResponse,
  { page, gate, name, query }: ApiRequest,
): Promise<Answer | undefined> {
  const foreign = refuseForeign(request, gate)
  if (foreign !== undefined) return failureAnswer(foreign.status, foreign)
  page.idle.touch()
  page.onPage()
  if (name === 'events' || name === 'file') {
    if (request.method !== 'GET') return wrongMethod('GET')
    if (name === 'file') return downloadFile(await page.context(), new URLSearchParams(query))
    await page.context()
    page.events.add(response, page.idle.openPage())
    return undefined
  }
  const { findMethod } = await page.methods()
  const method = findMethod(name)
  if (method === undefined) return NOT_FOUND
  if (request.method !== 'POST') return wrongMethod('POST')
  const wrongType = refuseType(request)
  if (wrongType !== undefined) return failureAnswer(wrongType.status, wrongType)
  if (method.changes && page.isReadOnly)
    return failureAnswer(403, refused(403, 'This page is read-only', READ_ONLY_HINT))
  const input = await readJson(request)
  const work = () => method.call(input, page.context)
  return jsonAnswer(200, await (name === 'apply' ? page.restores.during(work) : work()))
}

const READ_ONLY_HINT = 'Start `savestate ui` without --read-only to change something.'

const NOT_FOUND = failureAnswer(404, { code: 'BAD_INPUT', message: 'Unknown path', hint: null })

function wrongMethod(right: string): Answer {
  const answer = failureAnswer(405, {
    code: 'BAD_INPUT',
    message: 'This path does not take this method',
    hint: `Use ${right}.`,
  })
  return { ...answer, headers: { ...answer.headers, Allow: right } }
}
