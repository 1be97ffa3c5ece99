// OpenAI's Responses API, as Codex speaks it: tools with plain text as input, and tools in groups.
import { randomUUID } from 'node:crypto'
import { type Entry, type Spoken, type Tool, userEntry } from './conversation.js'
import { type Dialect, jsonReply, type StreamEvent, streamReply } from './dialect.js'
import { asList, asReadable, asRecord, asText, type Json, parseArguments } from './json.js'

export const responses: Dialect = {
  name: 'responses',
  speaks: (url) => url.pathname.endsWith('/responses'),
  parse: (body) => ({
    dialect: 'responses',
    model: asText(body['model']),
    stream: body['stream'] === true,
    tools: [body, ...inputOf(body['input']).map(asRecord).filter(hasTools)]
      .flatMap((holder) => asList(holder['tools']))
      .flatMap((tool) => toolsOf(asRecord(tool))),
    entries: [
      { kind: 'note', role: 'system', text: asText(body['instructions']) },
      ...inputOf(body['input']).flatMap((item) => entriesOf(asRecord(item))),
    ],
  }),
  say(answer, request) {
    if (answer.kind === 'error') {
      const error = { message: answer.message, type: 'api_error', code: 'scripted' }
      return jsonReply({ error }, answer.status)
    }
    const output = outputOf(answer)
    const response = {
      id: `resp_${randomUUID()}`,
      object: 'response',
      model: request.model,
      status: 'completed',
      output,
      usage: USAGE,
    }
    return request.stream ? streamReply(eventsOf(response, output)) : jsonReply(response)
  },
}

const USAGE = {
  input_tokens: 10,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 10,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 20,
}

/** Newer models get their tools within the conversation. */
function hasTools(item: Json): boolean {
  return item['type'] === 'additional_tools'
}

function toolsOf(tool: Json): Tool[] {
  const name = asText(tool['name'])
  if (tool['type'] === 'function') return [{ name, schema: asRecord(tool['parameters']) }]
  if (tool['type'] === 'custom') return [{ name, schema: undefined }]
  if (tool['type'] !== 'namespace') return []
  return asList(tool['tools'])
    .flatMap((inner) => toolsOf(asRecord(inner)))
    .map((inner) => ({ ...inner, namespace: name }))
}

function inputOf(input: unknown): readonly unknown[] {
  if (typeof input === 'string') return [{ type: 'message', role: 'user', content: input }]
  return asList(input)
}

function entriesOf(item: Json): Entry[] {
  switch (item['type'] ?? 'message') {
    case 'message':
      return textsOf(item['content']).map((text) => messageEntry(asText(item['role']), text))
    case 'function_call': {
      const input = parseArguments(asText(item['arguments']))
      return [{ kind: 'call', tool: asText(item['name']), input }]
    }
    case 'custom_tool_call':
      return [{ kind: 'call', tool: asText(item['name']), input: item['input'] }]
    case 'function_call_output':
    case 'custom_tool_call_output':
      return [{ kind: 'result', text: textsOf(item['output']).join('') }]
    case 'agent_message':
      // The task of a subagent; an unknown model gets its text unchanged.
      return [userEntry(textsOf(item['content']).join(''))]
    default:
      return [{ kind: 'note', role: asText(item['type']), text: JSON.stringify(item) }]
  }
}

function messageEntry(role: string, text: string): Entry {
  if (role === 'user') return userEntry(text)
  return role === 'assistant' ? { kind: 'say', text } : { kind: 'note', role, text }
}

function textsOf(content: unknown): readonly string[] {
  if (!Array.isArray(content)) return [asReadable(content)]
  return content.map(asRecord).map((part) => asText(part['text'] ?? part['encrypted_content']))
}

function outputOf(answer: Spoken): readonly Json[] {
  if (answer.kind === 'say') {
    const content = [{ type: 'output_text', text: answer.text, annotations: [] }]
    const id = `msg_${randomUUID()}`
    return [{ type: 'message', id, role: 'assistant', status: 'completed', content }]
  }
  return answer.calls.map(({ tool, input }) => {
    const call = { id: `fc_${randomUUID()}`, call_id: `call_${randomUUID()}`, name: tool.name }
    const group = tool.namespace === undefined ? {} : { namespace: tool.namespace }
    if (tool.schema === undefined) {
      return { type: 'custom_tool_call', ...call, ...group, input: asReadable(input) }
    }
    return { type: 'function_call', ...call, ...group, arguments: asReadable(input) }
  })
}

function eventsOf(response: Json, output: readonly Json[]): readonly StreamEvent[] {
  const begun = { ...response, status: 'in_progress', output: [], usage: null }
  const events: Json[] = [{ type: 'response.created', response: begun }]
  for (const [index, item] of output.entries()) {
    const added = item['type'] === 'message' ? { ...item, content: [] } : item
    events.push({ type: 'response.output_item.added', output_index: index, item: added })
    for (const part of asList(item['content']).map(asRecord)) {
      const delta = { item_id: item['id'], output_index: index, delta: part['text'] }
      events.push({ type: 'response.output_text.delta', ...delta, content_index: 0 })
    }
    events.push({ type: 'response.output_item.done', output_index: index, item })
  }
  events.push({ type: 'response.completed', response })
  return events.map((data) => ({ event: asText(data['type']), data }))
}
