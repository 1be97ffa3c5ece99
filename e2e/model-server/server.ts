// A scripted model for agents under test, on loopback. Its only state is the list of requests.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { answerTo } from './answer.js'
import { anthropic } from './anthropic.js'
import { chat } from './chat.js'
import type { ModelRequest } from './conversation.js'
import { type Dialect, jsonReply, type Reply } from './dialect.js'
import { gemini } from './gemini.js'
import { asRecord, type Json } from './json.js'
import { responses } from './responses.js'

const DIALECTS: readonly Dialect[] = [anthropic, responses, chat, gemini]

/** A request and its time. */
export interface Received extends ModelRequest {
  readonly atMs: number
  /** The original body, for details that the common form leaves out. */
  readonly body: Json
}

export interface ModelServer {
  readonly port: number
  readonly origin: string
  /** All requests, oldest first. */
  readonly received: readonly Received[]
  /** Requests that the server could not answer; tests check that it is empty. */
  readonly faults: readonly string[]
  close(): Promise<void>
}

export async function startModelServer(): Promise<ModelServer> {
  const received: Received[] = []
  const faults: string[] = []
  const server = createServer((request, response) => {
    respond(request, received)
      .catch((error: unknown) => {
        const fault = `${request.method} ${request.url}: ${String(error)}`
        faults.push(fault)
        return jsonReply({ error: { message: fault } }, 400)
      })
      .then((reply) => send(response, reply))
      .catch((error: unknown) => response.destroy(asError(error)))
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The server has no port')
  return {
    port: address.port,
    origin: `http://127.0.0.1:${address.port}`,
    received,
    faults,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function respond(request: IncomingMessage, received: Received[]): Promise<Reply> {
  const url = new URL(request.url ?? '/', 'http://127.0.0.1')
  const body = await bodyOf(request)
  const dialect = DIALECTS.find((one) => one.speaks(url))
  if (request.method !== 'POST' || dialect === undefined) return aside(url)
  const asked = dialect.parse(body, url)
  received.push({ ...asked, atMs: Date.now(), body })
  return dialect.say(answerTo(asked), asked)
}

/** Agents also count tokens, list models and send health checks. */
function aside(url: URL): Reply {
  if (/count_?tokens/i.test(url.pathname)) return jsonReply({ input_tokens: 10, totalTokens: 10 })
  if (url.pathname.endsWith('/models')) return jsonReply({ object: 'list', data: [], models: [] })
  return jsonReply({})
}

async function bodyOf(request: IncomingMessage): Promise<Json> {
  const chunks: Buffer[] = []
  for await (const chunk of request) if (Buffer.isBuffer(chunk)) chunks.push(chunk)
  const text = Buffer.concat(chunks).toString('utf8')
  if (text === '') return {}
  const value: unknown = JSON.parse(text)
  return asRecord(value)
}

function send(response: ServerResponse, { status, type, body }: Reply): void {
  response.writeHead(status, { 'content-type': type, 'cache-control': 'no-cache' })
  response.end(body)
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}
