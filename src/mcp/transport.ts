// MCP over a pipe: one JSON-RPC message per line. The transport of the official library closes the connection on a line that
// is too long, does not answer a line that is not JSON, and drops the requests under way when the client closes its end.
import type { Readable, Writable } from 'node:stream'
import { hasCode, isRecord, tryParseJson } from '../base/index.js'
import {
  type JSONRPCMessage,
  parseJSONRPCMessage,
  ProtocolErrorCode,
  type Transport,
} from './library.js'

const NEWLINE = 0x0a
const MAX_LINE_BYTES = 4 * 1024 * 1024
const MAX_UNANSWERED = 16

export class LineTransport implements Transport {
  onmessage?: Transport['onmessage']
  onclose?: Transport['onclose']
  onerror?: Transport['onerror']

  readonly #input: Readable
  readonly #output: Writable
  readonly #unanswered = new Set<unknown>()
  #onAnswer: (() => void) | undefined
  #reading: Promise<void> | undefined

  constructor(input: Readable, output: Writable) {
    this.#input = input
    this.#output = output
    // If the client no longer reads, it is gone.
    output.on('error', this.#stop)
  }

  async start(): Promise<void> {
    this.#reading = this.#read()
    // Reported by `finished`.
    this.#reading.catch(() => {})
  }

  /** Resolves when the client is gone or `close` was called, and every request that was read has its answer. */
  async finished(): Promise<void> {
    await this.#reading
  }

  async close(): Promise<void> {
    this.#stop()
  }

  /** Resolves when the line is written, so that a client that does not read is not sent more. */
  async send(message: JSONRPCMessage): Promise<void> {
    if (!('method' in message)) this.#markAnswered(message.id)
    await this.#write(message)
  }

  readonly #stop = () => void this.#input.destroy()

  async #read(): Promise<void> {
    try {
      for await (const line of linesOf(this.#input)) {
        await this.#receive(line)
        while (this.#unanswered.size >= MAX_UNANSWERED) await this.#nextAnswer()
      }
    } catch (error) {
      // Destroying the input ends the loop with this error.
      if (!this.#input.destroyed || !hasCode(error, 'ERR_STREAM_PREMATURE_CLOSE')) throw error
    } finally {
      while (this.#unanswered.size > 0) await this.#nextAnswer()
      this.onclose?.()
    }
  }

  async #receive(line: string | undefined): Promise<void> {
    if (line?.trim() === '') return
    if (line === undefined) return this.#refuse(ProtocolErrorCode.InvalidRequest, 'Line too long')
    const json = tryParseJson(line)
    if (json === undefined) return this.#refuse(ProtocolErrorCode.ParseError, 'Not JSON')
    let message: JSONRPCMessage
    try {
      message = parseJSONRPCMessage(json)
    } catch {
      return this.#refuse(ProtocolErrorCode.InvalidRequest, 'Not a JSON-RPC message', json)
    }
    if ('method' in message && 'id' in message) this.#unanswered.add(message.id)
    // A cancelled request is not answered.
    if ('method' in message && message.method === 'notifications/cancelled')
      this.#markAnswered(message.params?.['requestId'])
    this.onmessage?.(message)
  }

  #markAnswered(id: unknown): void {
    this.#unanswered.delete(id)
    this.#onAnswer?.()
  }

  async #nextAnswer(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#onAnswer = resolve
    })
  }

  async #refuse(code: number, message: string, json?: unknown): Promise<void> {
    const given = isRecord(json) ? json['id'] : undefined
    const id = typeof given === 'string' || Number.isSafeInteger(given) ? given : null
    await this.#write({ jsonrpc: '2.0', id, error: { code, message } })
  }

  async #write(message: unknown): Promise<void> {
    await new Promise<void>((resolve) => {
      // The listener of the stream handles errors.
      this.#output.write(`${JSON.stringify(message)}\n`, () => resolve())
    })
  }
}

/** Yields undefined for a line that is too long, without keeping it in memory. */
async function* linesOf(input: AsyncIterable<Uint8Array>): AsyncGenerator<string | undefined> {
  let parts: Uint8Array[] = []
  let length = 0
  const add = (part: Uint8Array) => {
    length += part.length
    if (length > MAX_LINE_BYTES) parts = []
    else parts.push(part)
  }
  const take = () => {
    const line = length > MAX_LINE_BYTES ? undefined : Buffer.concat(parts).toString('utf8')
    parts = []
    length = 0
    return line
  }
  for await (const chunk of input) {
    let from = 0
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      add(chunk.subarray(from, end))
      from = end + 1
      yield take()
    }
    add(chunk.subarray(from))
  }
  if (length > 0) yield take()
}
