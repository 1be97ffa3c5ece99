// The server: lines in, lines out, and nothing else on the pipe. Requests are worked on as they come, several at once;
// who may write the project at a time is settled by its lock.
import type { Readable, Writable } from 'node:stream'
import { linesOf } from './lines.js'
import {
  FAULTS,
  faultAnswer,
  type Fields,
  isId,
  type Message,
  messageOf,
  ProtocolError,
  type RequestId,
} from './message.js'
import { type Method, type MethodOptions, methodsFor } from './methods.js'
import { statedResult, statesRevision } from './revisions.js'

const MAX_LINE_BYTES = 4 * 1024 * 1024
const MAX_UNDER_WAY = 16
const MAX_BATCH = 100

export type McpService = Omit<MethodOptions, 'server'> & {
  readonly input: Readable
  readonly output: Writable
  /** Ends the service when what is under way is done. */
  readonly signal: AbortSignal
  readonly version: string
}

/** Returns when the client has gone or the signal has come, and nothing is under way any more. */
export async function serveMcp(service: McpService): Promise<void> {
  const { input, output, signal, version } = service
  const server = { name: 'savestate', title: 'Savestate', version }
  const methods = await methodsFor({ ...service, server })
  const connection = new Connection(methods, { server, report: service.report })
  const leave = () => void input.destroy()
  signal.addEventListener('abort', leave)
  // Who does not read any more has gone.
  output.on('error', leave)
  const underWay = new Set<Promise<void>>()
  try {
    if (signal.aborted) return
    for await (const line of linesOf(input, { maxBytes: MAX_LINE_BYTES })) {
      const work = connection.answerTo(line).then((answer) => send(output, answer))
      underWay.add(work)
      void work.finally(() => underWay.delete(work))
      if (underWay.size >= MAX_UNDER_WAY) await Promise.race(underWay)
    }
  } catch (error) {
    // What was destroyed above ends the loop so. Anything else is told.
    if (!input.destroyed || !hasCode(error, 'ERR_STREAM_PREMATURE_CLOSE')) throw error
  } finally {
    signal.removeEventListener('abort', leave)
    await Promise.all(underWay)
    output.off('error', leave)
  }
}

class Connection {
  readonly #methods: ReadonlyMap<string, Method>
  readonly #server: Fields
  readonly #report: (error: unknown) => void
  readonly #running = new Map<RequestId, AbortController>()

  constructor(
    methods: ReadonlyMap<string, Method>,
    { server, report }: { readonly server: Fields; readonly report: (error: unknown) => void },
  ) {
    this.#methods = methods
    this.#server = server
    this.#report = report
  }

  /** Undefined where nothing is to be said. Never throws. */
  async answerTo(line: string | undefined): Promise<unknown> {
    if (line === undefined) return fault(FAULTS.request, 'The message is too long')
    if (line.trim() === '') return undefined
    let json: unknown
    try {
      json = JSON.parse(line)
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
      return fault(FAULTS.parse, 'The line is not JSON')
    }
    if (!Array.isArray(json)) return this.#answer(messageOf(json))
    // Only the revision 2025-03-26 has these.
    if (json.length === 0 || json.length > MAX_BATCH)
      return fault(FAULTS.request, `A batch has 1 to ${MAX_BATCH} messages`)
    const answers = await Promise.all(json.map(async (one) => this.#answer(messageOf(one))))
    const said = answers.filter((answer) => answer !== undefined)
    return said.length === 0 ? undefined : said
  }

  async #answer(message: Message): Promise<Fields | undefined> {
    switch (message.type) {
      case 'response':
        return undefined
      case 'fault':
        return faultAnswer(message.id, new ProtocolError(FAULTS.request, message.text))
      case 'notification':
        return this.#note(message)
      case 'request':
        return this.#carryOut(message)
    }
  }

  #note({ method, params }: Extract<Message, { type: 'notification' }>): undefined {
    const id = params['requestId']
    // One that is answered already, or that never was, is none of our business.
    if (method === 'notifications/cancelled' && isId(id)) this.#running.get(id)?.abort()
  }

  async #carryOut(request: Extract<Message, { type: 'request' }>): Promise<Fields | undefined> {
    const { id, method, params } = request
    if (this.#running.has(id))
      return faultAnswer(id, new ProtocolError(FAULTS.request, 'This id is in use'))
    const ending = new AbortController()
    this.#running.set(id, ending)
    let isStated = false
    try {
      isStated = statesRevision(params)
      const work = this.#methods.get(method)
      if (work === undefined)
        throw new ProtocolError(FAULTS.method, `There is no method ${method.slice(0, 100)}`)
      const plain = await work(params, ending.signal)
      const result = isStated ? statedResult(plain, { method, server: this.#server }) : plain
      // Who took the request back does not want to hear of it.
      return ending.signal.aborted ? undefined : { jsonrpc: '2.0', id, result }
    } catch (error) {
      return ending.signal.aborted ? undefined : faultAnswer(id, this.#faultOf(error, isStated))
    } finally {
      this.#running.delete(id)
    }
  }

  #faultOf(error: unknown, isStated: boolean): ProtocolError {
    if (!(error instanceof ProtocolError)) {
      this.#report(error)
      return new ProtocolError(FAULTS.internal, 'A bug in Savestate')
    }
    const isNewer = isStated && error.code === FAULTS.resource
    return isNewer ? new ProtocolError(FAULTS.params, error.message, error.data) : error
  }
}

function fault(code: number, message: string): Fields {
  return faultAnswer(null, new ProtocolError(code, message))
}

/** Until the line is on its way: a client that does not read is not sent more and more. */
async function send(output: Writable, answer: unknown): Promise<void> {
  if (answer === undefined) return
  await new Promise<void>((resolve) => {
    // An error is heard by the listener of the stream.
    output.write(`${JSON.stringify(answer)}\n`, () => resolve())
  })
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
