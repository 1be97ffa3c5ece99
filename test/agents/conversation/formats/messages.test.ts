// Messages of SDK sessions, in the forms of the libraries that write them.
import { expect, test } from 'vitest'
import { readConversationItems } from '../../../../src/agents/conversation/read-items.js'
import type { ConversationPart } from '../../../../src/agents/conversation/items.js'

function readParts(...messages: readonly unknown[]): readonly (readonly ConversationPart[])[] {
  return readConversationItems(messages, { format: 'messages' }).map(({ parts }) => parts)
}

const text = (value: string) => ({ text: value, restLength: 0, masked: 0 })
const prompt = (value: string) => ({ kind: 'prompt', text: text(value) })
const answer = (value: string) => ({ kind: 'answer', text: text(value) })
const thinking = (value: string) => ({ kind: 'thinking', text: text(value) })
const note = (value: string) => ({ kind: 'note', text: text(value) })
const SEARCH = {
  kind: 'call',
  id: 'c-1',
  tool: 'search',
  summary: 'cats',
  input: text('query: cats\nlimit: 3'),
}
const FOUND = { kind: 'result', id: 'c-1', isError: false, text: text('2 found'), durationMs: null }
const ARGS = { query: 'cats', limit: 3 }

test('OpenAI: chat completions', () => {
  const call = {
    id: 'c-1',
    type: 'function',
    function: { name: 'search', arguments: JSON.stringify(ARGS) },
  }
  expect(
    readParts(
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: 'Find cats' },
      { role: 'assistant', content: null, reasoning_content: 'Search.', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c-1', content: '2 found' },
      { role: 'assistant', content: [{ type: 'text', text: 'Two.' }] },
    ),
  ).toEqual([
    [note('Be kind.')],
    [prompt('Find cats')],
    [thinking('Search.'), SEARCH],
    [FOUND],
    [answer('Two.')],
  ])
})

test('OpenAI: items of the Responses API', () => {
  expect(
    readParts(
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Find cats' }] },
      { type: 'function_call', call_id: 'c-1', name: 'search', arguments: JSON.stringify(ARGS) },
      { type: 'function_call_output', call_id: 'c-1', output: '2 found' },
    ),
  ).toEqual([[prompt('Find cats')], [SEARCH], [FOUND]])
})

test('Anthropic: content blocks', () => {
  expect(
    readParts(
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Find cats' },
          { type: 'image', source: { type: 'base64', data: 'A'.repeat(100) } },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Search.', signature: 'x' },
          { type: 'tool_use', id: 'c-1', name: 'search', input: ARGS },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c-1', content: '2 found' }] },
    ),
  ).toEqual([[prompt('Find cats'), note('[image]')], [thinking('Search.'), SEARCH], [FOUND]])
})

test('LangChain: serialized, stored and plain messages', () => {
  const id = (name: string) => ['langchain_core', 'messages', name]
  const call = { id: 'c-1', name: 'search', args: ARGS, type: 'tool_call' }
  expect(
    readParts(
      { lc: 1, type: 'constructor', id: id('HumanMessage'), kwargs: { content: 'Find cats' } },
      {
        lc: 1,
        type: 'constructor',
        id: id('AIMessage'),
        kwargs: { content: '', tool_calls: [call] },
      },
      { type: 'tool', data: { content: '2 found', tool_call_id: 'c-1', status: 'success' } },
      { type: 'ai', content: 'Two.' },
    ),
  ).toEqual([[prompt('Find cats')], [SEARCH], [FOUND], [answer('Two.')]])
})

test('AI SDK: messages for the page and for the model', () => {
  const part = {
    type: 'tool-search',
    toolCallId: 'c-1',
    state: 'output-available',
    input: ARGS,
    output: '2 found',
  }
  const result = {
    type: 'tool-result',
    toolCallId: 'c-1',
    toolName: 'search',
    output: { type: 'text', value: '2 found' },
  }
  expect(
    readParts(
      { id: '1', role: 'user', parts: [{ type: 'text', text: 'Find cats' }] },
      {
        id: '2',
        role: 'assistant',
        parts: [{ type: 'step-start' }, { type: 'reasoning', text: 'Search.' }, part],
      },
      {
        role: 'assistant',
        content: [{ type: 'tool-call', toolCallId: 'c-1', toolName: 'search', input: ARGS }],
      },
      {
        role: 'assistant',
        content: '',
        toolInvocations: [
          { state: 'result', toolCallId: 'c-1', toolName: 'search', args: ARGS, result: '2 found' },
        ],
      },
      { role: 'tool', content: [result] },
      { role: 'tool', content: [{ ...result, output: { type: 'error-text', value: '2 found' } }] },
    ),
  ).toEqual([
    [prompt('Find cats')],
    [thinking('Search.'), SEARCH, FOUND],
    [SEARCH],
    [SEARCH, FOUND],
    [FOUND],
    [{ ...FOUND, isError: true }],
  ])
})

test('Gemini: parts', () => {
  expect(
    readParts(
      { role: 'user', parts: [{ text: 'Find cats' }] },
      { role: 'model', parts: [{ functionCall: { id: 'c-1', name: 'search', args: ARGS } }] },
      {
        role: 'user',
        parts: [{ functionResponse: { id: 'c-1', response: { output: '2 found' } } }],
      },
    ),
  ).toEqual([[prompt('Find cats')], [SEARCH], [FOUND]])
})

test('any other value is shown as it is', () => {
  const cycle: Record<string, unknown> = { name: 'loop' }
  cycle['self'] = cycle
  expect(
    readParts({ role: 'narrator', content: 'x' }, { a: 1 }, 'words', 7, null, '', cycle, { n: 1n }),
  ).toEqual([
    [note('narrator: {\n  "role": "narrator",\n  "content": "x"\n}')],
    [note('{\n  "a": 1\n}')],
    [note('words')],
    [note('7')],
    [note('null')],
    [],
    [note("<ref *1> { name: 'loop', self: [Circular *1] }")],
    [note('{ n: 1n }')],
  ])
})

test('content that is no list of blocks is shown as well', () => {
  expect(
    readParts({ role: 'user', content: { text: 'x' } }, { role: 'user', content: [7, { a: 1 }] }),
  ).toEqual([[prompt('x')], [note('7'), note('{\n  "a": 1\n}')]])
})

test('times are read from the usual fields', () => {
  const at = (fields: object) =>
    readConversationItems([{ role: 'user', content: 'x', ...fields }], { format: 'messages' })[0]
      ?.at
  const iso = '2026-11-15T19:14:58.000Z'
  expect(at({ timestamp: iso })).toBe(iso)
  expect(at({ createdAt: new Date(iso) })).toBe(iso)
  expect(at({ created_at: Date.parse(iso) / 1000 })).toBe(iso)
  expect(at({ ts: Date.parse(iso) })).toBe(iso)
  expect(at({ timestamp: 8.64e15 + 1 })).toBeNull()
  expect(at({})).toBeNull()
})

test('Gemini: results with the role of a function, and data without a type', () => {
  const functionResponse = { id: 'c-1', name: 'search', response: { output: '2 found' } }
  expect(
    readParts(
      { role: 'function', parts: [{ functionResponse }] },
      { role: 'user', parts: [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }] },
    ),
  ).toEqual([[FOUND], [note('[image/png]')]])
})
