// A dialect of a model API: it reads requests and writes answers.
import type { Answer, ModelRequest } from './conversation.js'
import type { Json } from './json.js'

export interface Dialect {
  readonly name: string
  /** Whether a POST to this path is a model request. */
  speaks(url: URL): boolean
  parse(body: Json, url: URL): ModelRequest
  say(answer: Answer, request: ModelRequest): Reply
}

export interface Reply {
  readonly status: number
  readonly type: 'application/json' | 'text/event-stream'
  readonly body: string
}

export interface StreamEvent {
  /** Some dialects name the event beside its data. */
  readonly event?: string
  readonly data: unknown
}

export function jsonReply(value: unknown, status = 200): Reply {
  return { status, type: 'application/json', body: JSON.stringify(value) }
}

export function streamReply(events: readonly StreamEvent[], end = ''): Reply {
  const lines = events.map(
    ({ event, data }) =>
      `${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`,
  )
  return { status: 200, type: 'text/event-stream', body: lines.join('') + end }
}
