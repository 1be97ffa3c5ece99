// OpenAI's Chat Completions, which opencode and many others speak.
import { randomUUID } from 'node:crypto'
import { type Entry, type ModelRequest, type Spoken, userEntry } from './conversation.js'
import { type Dialect, jsonReply, streamReply } from './dialect.js'
import { asList, asReadable, asRecord, asText, type Json, parseArguments } from './json.js'

export const chat: Dialect = {
  name: 'chat',
  speaks: (url) => url.pathname.endsWith('/chat/completions'),
  parse: (body) => ({
    dialect: 'chat',
    model: asText(body['model']),
    stream: body['stream'] === true,
    tools: asList(body['tools'])
      .map((tool) => asRecord(asRecord(tool)['function']))
      .map((tool) => ({ name: asText(tool['name']), schema: asRecord(tool['parameters']) })),
    entries: asList(body['messages']).flatMap((message) => entriesOf(asRecord(message))),
  }),
  say(answer, request) {
    if (answer.kind === 'error') {
      return jsonReply({ error: { message: answer.message, type: 'api_error' } }, answer.status)
    }
    const finish = answer.kind === 'calls' ? 'tool_calls' : 'stop'
    const message = messageOf(answer)
    if (request.stream) {
      const chunks = [
        chunk(request, { delta: message, finish_reason: null }),
        { ...chunk(request, { delta: {}, finish_reason: finish }), usage: USAGE },
      ]
      return streamReply(
        chunks.map((data) => ({ data })),
        'data: [DONE]\n\n',
      )
    }
    const choice = { index: 0, message, finish_reason: finish }
    return jsonReply({ ...head(request, 'chat.completion'), choices: [choice], usage: USAGE })
  },
}

const USAGE = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 }

function entriesOf(message: Json): Entry[] {
  const role = asText(message['role'])
  const texts = textsOf(message['content'])
  if (role === 'user') return texts.map(userEntry)
  if (role === 'tool') return [{ kind: 'result', text: texts.join('') }]
  if (role !== 'assistant') return texts.map((text) => ({ kind: 'note', role, text }))
  const said = texts.filter((text) => text !== '').map((text): Entry => ({ kind: 'say', text }))
  const calls = asList(message['tool_calls']).map((call): Entry => {
    const target = asRecord(asRecord(call)['function'])
    const input = parseArguments(asText(target['arguments']))
    return { kind: 'call', tool: asText(target['name']), input }
  })
  return [...said, ...calls]
}

function textsOf(content: unknown): readonly string[] {
  if (!Array.isArray(content)) return content === null ? [] : [asReadable(content)]
  return content.map((part) => asText(asRecord(part)['text']))
}

function messageOf(answer: Spoken): Json {
  if (answer.kind === 'say') return { role: 'assistant', content: answer.text }
  const calls = answer.calls.map(({ tool, input }, index) => ({
    index,
    id: `call_${randomUUID()}`,
    type: 'function',
    function: { name: tool.name, arguments: asReadable(input) },
  }))
  return { role: 'assistant', content: null, tool_calls: calls }
}

function head(request: ModelRequest, object: string): Json {
  return { id: `chatcmpl-${randomUUID()}`, object, created: 0, model: request.model }
}

function chunk(request: ModelRequest, choice: Json): Json {
  return { ...head(request, 'chat.completion.chunk'), choices: [{ index: 0, ...choice }] }
}
