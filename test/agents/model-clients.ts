// Small clients of the four dialects, written from the side of an agent: none of the server's code is used here.

export interface ToolUse {
  readonly id: string
  readonly name: string
  readonly input: unknown
}

export type Turn =
  | { readonly role: 'user'; readonly text: string }
  | { readonly role: 'assistant'; readonly calls: readonly ToolUse[]; readonly text?: string }
  | {
      readonly role: 'tool'
      readonly results: readonly {
        readonly id: string
        readonly name: string
        readonly text: string
      }[]
    }

interface Answer {
  readonly text: string
  readonly calls: readonly ToolUse[]
}

export interface Client {
  readonly name: string
  ask(origin: string, turns: readonly Turn[]): Promise<Answer>
}

const text = { type: 'string' }

export const TOOLS = [
  {
    name: 'write_file',
    parameters: { type: 'object', properties: { file_path: text, content: text } },
  },
  {
    name: 'bash',
    parameters: {
      type: 'object',
      properties: { command: text, background: { type: 'boolean' }, limit: { type: 'number' } },
      required: ['command', 'background'],
    },
  },
  {
    name: 'task',
    parameters: { type: 'object', properties: { prompt: text, subagent_type: text } },
  },
]

const SYSTEM = 'You are under test.'

async function post(address: string, body: unknown): Promise<string> {
  const response = await fetch(address, { method: 'POST', body: JSON.stringify(body) })
  const said = await response.text()
  if (!response.ok) throw new Error(`${response.status} ${said}`)
  return said
}

/** Unvalidated: the tests compare the result. */
function parse<T>(json: string): T {
  return JSON.parse(json) as T
}

function events<T>(stream: string): T[] {
  return [...stream.matchAll(/^data: (\{.*)$/gm)].map(([, data = '']) => parse<T>(data))
}

interface AnthropicBlock {
  readonly type: string
  readonly id: string
  readonly name: string
  readonly text: string
  readonly input: unknown
}

interface AnthropicEvent {
  readonly type: string
  readonly index: number
  readonly content_block: AnthropicBlock
  readonly delta: { readonly text?: string; readonly partial_json?: string }
}

function anthropicClient(stream: boolean): Client {
  return {
    name: `Anthropic Messages${stream ? ', streamed' : ''}`,
    async ask(origin, turns) {
      const tools = TOOLS.map(({ name, parameters }) => ({ name, input_schema: parameters }))
      const messages = turns.map((turn) => {
        if (turn.role === 'user') return { role: 'user', content: turn.text }
        if (turn.role === 'tool') {
          const content = turn.results.map(({ id, text: result }) => ({
            type: 'tool_result',
            tool_use_id: id,
            content: [{ type: 'text', text: result }],
          }))
          return { role: 'user', content }
        }
        const calls = turn.calls.map((call) => ({ type: 'tool_use', ...call }))
        const said = turn.text === undefined ? [] : [{ type: 'text', text: turn.text }]
        return { role: 'assistant', content: [...said, ...calls] }
      })
      const body = { model: 'm', stream, system: SYSTEM, tools, messages }
      const answer = await post(`${origin}/v1/messages`, body)
      const blocks = stream
        ? anthropicBlocks(events<AnthropicEvent>(answer))
        : parse<{ content: AnthropicBlock[] }>(answer).content
      return {
        text: blocks.map((block) => (block.type === 'text' ? block.text : '')).join(''),
        calls: blocks.filter(({ type }) => type === 'tool_use'),
      }
    },
  }
}

function anthropicBlocks(all: readonly AnthropicEvent[]): AnthropicBlock[] {
  const starts = all.filter(({ type }) => type === 'content_block_start')
  return starts.map(({ index, content_block: block }) => {
    const deltas = all.filter((one) => one.type === 'content_block_delta' && one.index === index)
    const said = deltas.map(({ delta }) => delta.text ?? '').join('')
    const json = deltas.map(({ delta }) => delta.partial_json ?? '').join('')
    return { ...block, text: said, input: json === '' ? {} : parse<unknown>(json) }
  })
}

interface ResponsesItem {
  readonly type: string
  readonly call_id: string
  readonly name: string
  readonly arguments: string
  readonly content: readonly { readonly text: string }[]
}

function responsesClient(stream: boolean): Client {
  return {
    name: `OpenAI Responses${stream ? ', streamed' : ''}`,
    async ask(origin, turns) {
      const tools = TOOLS.map((tool) => ({ type: 'function', ...tool }))
      const input = turns.flatMap((turn): unknown[] => {
        if (turn.role === 'user') {
          return [{ role: 'user', content: [{ type: 'input_text', text: turn.text }] }]
        }
        if (turn.role === 'tool') {
          return turn.results.map(({ id, text: output }) => ({
            type: 'function_call_output',
            call_id: id,
            output,
          }))
        }
        return turn.calls.map(({ id, name, input: given }) => ({
          type: 'function_call',
          call_id: id,
          name,
          arguments: JSON.stringify(given),
        }))
      })
      const body = { model: 'm', stream, instructions: SYSTEM, tools, input }
      const answer = await post(`${origin}/v1/responses`, body)
      const items = stream
        ? events<{ type: string; item: ResponsesItem }>(answer)
            .filter(({ type }) => type === 'response.output_item.done')
            .map(({ item }) => item)
        : parse<{ output: ResponsesItem[] }>(answer).output
      return {
        text: items.map(({ content }) => content?.[0]?.text ?? '').join(''),
        calls: items
          .filter(({ type }) => type === 'function_call')
          .map((item) => ({
            id: item.call_id,
            name: item.name,
            input: parse<unknown>(item.arguments),
          })),
      }
    },
  }
}

interface ChatMessage {
  readonly content: string | null
  readonly tool_calls?: readonly {
    readonly id: string
    readonly function: { readonly name: string; readonly arguments: string }
  }[]
}

function chatClient(stream: boolean): Client {
  return {
    name: `Chat Completions${stream ? ', streamed' : ''}`,
    async ask(origin, turns) {
      const tools = TOOLS.map((tool) => ({ type: 'function', function: tool }))
      const messages = turns.flatMap((turn): unknown[] => {
        if (turn.role === 'user') return [{ role: 'user', content: turn.text }]
        if (turn.role === 'tool') {
          return turn.results.map(({ id, text: content }) => ({
            role: 'tool',
            tool_call_id: id,
            content,
          }))
        }
        const calls = turn.calls.map(({ id, name, input }) => ({
          id,
          type: 'function',
          function: { name, arguments: JSON.stringify(input) },
        }))
        return [{ role: 'assistant', content: turn.text ?? null, tool_calls: calls }]
      })
      const system = { role: 'system', content: SYSTEM }
      const body = { model: 'm', stream, tools, messages: [system, ...messages] }
      const answer = await post(`${origin}/v1/chat/completions`, body)
      const message = stream
        ? events<{ choices: [{ delta: ChatMessage }] }>(answer)[0]?.choices[0].delta
        : parse<{ choices: [{ message: ChatMessage }] }>(answer).choices[0].message
      return {
        text: message?.content ?? '',
        calls: (message?.tool_calls ?? []).map(({ id, function: called }) => ({
          id,
          name: called.name,
          input: parse<unknown>(called.arguments),
        })),
      }
    },
  }
}

interface GeminiPart {
  readonly text?: string
  readonly functionCall?: { readonly name: string; readonly args: unknown }
}

interface GeminiResponse {
  readonly candidates: [{ readonly content: { readonly parts: readonly GeminiPart[] } }]
}

function geminiClient(stream: boolean): Client {
  return {
    name: `Gemini${stream ? ', streamed' : ''}`,
    async ask(origin, turns) {
      const contents = turns.map((turn) => {
        if (turn.role === 'user') return { role: 'user', parts: [{ text: turn.text }] }
        if (turn.role === 'tool') {
          const parts = turn.results.map(({ name, text: output }) => ({
            functionResponse: { name, response: { output } },
          }))
          return { role: 'user', parts }
        }
        const parts = turn.calls.map(({ name, input }) => ({ functionCall: { name, args: input } }))
        return { role: 'model', parts }
      })
      const body = {
        systemInstruction: { parts: [{ text: SYSTEM }] },
        tools: [{ functionDeclarations: TOOLS }],
        contents,
      }
      const method = stream ? 'streamGenerateContent?alt=sse' : 'generateContent'
      const answer = await post(`${origin}/v1beta/models/m:${method}`, body)
      const response = stream ? events<GeminiResponse>(answer)[0] : parse<GeminiResponse>(answer)
      const parts = response?.candidates[0].content.parts ?? []
      return {
        text: parts.map(({ text: said }) => said ?? '').join(''),
        calls: parts.flatMap(({ functionCall: call }, index) =>
          call === undefined ? [] : [{ id: String(index), name: call.name, input: call.args }],
        ),
      }
    },
  }
}

const MAKERS = [anthropicClient, responsesClient, chatClient, geminiClient]

export const CLIENTS: readonly Client[] = MAKERS.flatMap((make) => [make(false), make(true)])
