// The Anthropic Messages API, as Claude Code speaks it.
import { randomUUID } from 'node:crypto'
import { type Entry, type ModelRequest, type Spoken, userEntry } from './conversation.js'
import { type Dialect, jsonReply, type Reply, type StreamEvent, streamReply } from './dialect.js'
import { asList, asReadable, asRecord, asText, type Json } from './json.js'

export const anthropic: Dialect = {
  name: 'anthropic',
  speaks: (url) => url.pathname.endsWith('/v1/messages'),
  parse: (body) => ({
    dialect: 'anthropic',
    model: asText(body['model']),
    stream: body['stream'] === true,
    tools: asList(body['tools'])
      .map(asRecord)
      .map((tool) => ({ name: asText(tool['name']), schema: asRecord(tool['input_schema']) })),
    entries: [
      ...blocksOf(body['system']).map((block): Entry => note('system', block)),
      ...asList(body['messages']).flatMap((message) => entriesOf(asRecord(message))),
    ],
  }),
  say(answer, request) {
    if (answer.kind === 'error') return errorReply(answer.status, answer.message)
    if (request.stream) return streamReply(eventsOf(request, answer))
    return jsonReply({ ...envelope(request), content: contentOf(answer), ...ending(answer) })
  },
}

function entriesOf(message: Json): Entry[] {
  const role = asText(message['role'])
  return blocksOf(message['content']).map((block): Entry => {
    const type = block['type']
    if (type === 'tool_use') {
      return { kind: 'call', tool: asText(block['name']), input: block['input'] }
    }
    if (type === 'tool_result') return { kind: 'result', text: resultText(block['content']) }
    const text = asText(block['text'])
    if (role === 'user') return userEntry(text)
    return role === 'assistant' ? { kind: 'say', text } : note(role, block)
  })
}

function blocksOf(content: unknown): readonly Json[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return asList(content).map(asRecord)
}

function note(role: string, block: Json): Entry {
  return { kind: 'note', role, text: asText(block['text']) }
}

function resultText(content: unknown): string {
  if (!Array.isArray(content)) return asReadable(content)
  return blocksOf(content)
    .map((block) => asText(block['text']))
    .join('')
}

function envelope(request: ModelRequest): Json {
  return {
    id: `msg_${randomUUID()}`,
    type: 'message',
    role: 'assistant',
    model: request.model,
    usage: { input_tokens: 10, output_tokens: 10 },
  }
}

function ending(answer: Spoken): Json {
  const reason = answer.kind === 'calls' ? 'tool_use' : 'end_turn'
  return { stop_reason: reason, stop_sequence: null }
}

function contentOf(answer: Spoken): readonly Json[] {
  if (answer.kind === 'say') return [{ type: 'text', text: answer.text }]
  return answer.calls.map(({ tool, input }) => {
    const id = `toolu_${randomUUID().replaceAll('-', '')}`
    return { type: 'tool_use', id, name: tool.name, input }
  })
}

function eventsOf(request: ModelRequest, answer: Spoken): readonly StreamEvent[] {
  const start = { ...envelope(request), content: [], stop_reason: null, stop_sequence: null }
  const events: Json[] = [{ type: 'message_start', message: start }]
  for (const [index, block] of contentOf(answer).entries()) {
    const isCall = block['type'] === 'tool_use'
    const empty = isCall ? { ...block, input: {} } : { ...block, text: '' }
    const delta = isCall
      ? { type: 'input_json_delta', partial_json: JSON.stringify(block['input']) }
      : { type: 'text_delta', text: block['text'] }
    events.push({ type: 'content_block_start', index, content_block: empty })
    events.push({ type: 'content_block_delta', index, delta })
    events.push({ type: 'content_block_stop', index })
  }
  events.push({ type: 'message_delta', delta: ending(answer), usage: { output_tokens: 10 } })
  events.push({ type: 'message_stop' })
  return events.map((data) => ({ event: asText(data['type']), data }))
}

function errorReply(status: number, message: string): Reply {
  return jsonReply({ type: 'error', error: { type: 'api_error', message } }, status)
}
