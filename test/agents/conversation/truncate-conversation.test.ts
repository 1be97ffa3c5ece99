// Truncates handwritten transcripts in the formats of the agents.
import { expect, test } from 'vitest'
import {
  claudeFormat,
  codexFormat,
  truncateConversation,
  geminiFormat,
  type ConversationPoint,
} from '../../../src/agents/conversation/truncate-conversation.js'

const lines = (entries: readonly unknown[]) => entries.map((entry) => JSON.stringify(entry))
const POINT: ConversationPoint = {
  at: 'turn-start',
  turnId: 'p-2',
  callId: undefined,
  prompt: 'Second',
}

const asked = (promptId: string, content: unknown) => ({
  type: 'user',
  promptId,
  message: { content },
})
const result = (promptId: string, id: string) =>
  asked(promptId, [{ type: 'tool_result', tool_use_id: id }])
const answer = (id: string, part: unknown) => ({
  type: 'assistant',
  message: { id, content: [part] },
})
const CLAUDE = lines([
  { type: 'queue-operation' },
  asked('p-1', 'First'),
  answer('m-1', { type: 'text', text: 'Done.' }),
  { type: 'system' },
  { type: 'queue-operation', content: 'Second' },
  asked('p-2', [{ type: 'text', text: 'Second' }]),
  { type: 'attachment' },
  answer('m-2', { type: 'thinking' }),
  { type: 'api-request' },
  answer('m-2', { type: 'tool_use', id: 'c-1' }),
  result('p-2', 'c-1'),
  answer('m-3', { type: 'tool_use', id: 'c-2' }),
  result('p-2', 'c-2'),
])

test('Claude Code: before a turn means after the last message of the previous turn', () => {
  expect(truncateConversation(claudeFormat, POINT, [CLAUDE])).toEqual({
    kind: 'before-turn',
    isFound: true,
    lines: CLAUDE.slice(0, 3),
  })
})

test('Claude Code: before and after a call, without the thoughts that led to it', () => {
  const at = (point: Partial<ConversationPoint>) =>
    truncateConversation(claudeFormat, { ...POINT, ...point }, [CLAUDE])
  expect(at({ at: 'before-tool', callId: 'c-1' }).lines).toEqual(CLAUDE.slice(0, 6))
  expect(at({ at: 'before-tool', callId: 'c-2' }).lines).toEqual(CLAUDE.slice(0, 11))
  expect(at({ at: 'after-tool', callId: 'c-1' })).toEqual({
    kind: 'after-call',
    isFound: true,
    lines: CLAUDE.slice(0, 11),
  })
  expect(at({ at: 'after-tool', callId: 'of a subagent' }).kind).toBe('before-turn')
  expect(at({ at: 'turn-end' })).toEqual({ kind: 'then', isFound: false, lines: CLAUDE })
})

test('Claude Code: a fork has the id of its first prompt in all earlier entries', () => {
  const fork = CLAUDE.map((line) => line.replace('"p-1"', '"p-2"'))
  expect(truncateConversation(claudeFormat, POINT, [fork]).lines).toEqual(fork.slice(0, 3))
})

test('a point that was written after the checkpoint is found in a newer copy', () => {
  const own = CLAUDE.slice(0, 2)
  expect(truncateConversation(claudeFormat, POINT, [own, CLAUDE]).lines).toEqual(CLAUDE.slice(0, 3))
  const unknown = { ...POINT, turnId: 'nowhere' }
  expect(truncateConversation(claudeFormat, unknown, [own, CLAUDE]).lines).toEqual(own)
})

test('nothing precedes the first prompt', () => {
  const first = { ...POINT, turnId: 'p-1', prompt: 'First' }
  expect(truncateConversation(claudeFormat, first, [CLAUDE]).lines).toEqual([])
  expect(truncateConversation(claudeFormat, first, []).lines).toEqual([])
})

test('a line of an unknown form is kept', () => {
  const odd = ['', 'null', '{"torn', '[]', '7', '{"message":7}', ...CLAUDE]
  expect(truncateConversation(claudeFormat, POINT, [odd]).lines).toEqual(odd.slice(0, 9))
  expect(truncateConversation(codexFormat, POINT, [odd]).lines).toEqual([])
  expect(truncateConversation(geminiFormat, POINT, [odd]).lines).toEqual([])
})

const item = (payload: unknown) => ({ type: 'response_item', payload })
const CODEX = lines([
  { type: 'session_meta', payload: { id: 's' } },
  { type: 'event_msg', payload: { type: 'task_started', turn_id: 'p-1' } },
  item({ type: 'message', role: 'user' }),
  item({ type: 'message', role: 'assistant' }),
  { type: 'event_msg', payload: { type: 'task_complete', turn_id: 'p-1' } },
  { type: 'event_msg', payload: { type: 'task_started', turn_id: 'p-2' } },
  item({ type: 'message', role: 'user' }),
  item({ type: 'function_call', call_id: 'c-1' }),
  item({ type: 'function_call_output', call_id: 'c-1' }),
  item({ type: 'message', role: 'assistant' }),
])

test('Codex: turns and calls are found by their ids', () => {
  const at = (point: Partial<ConversationPoint>) =>
    truncateConversation(codexFormat, { ...POINT, ...point }, [CODEX]).lines
  expect(at({})).toEqual(CODEX.slice(0, 5))
  expect(at({ turnId: 'p-1' })).toEqual([])
  expect(at({ at: 'before-tool', callId: 'c-1' })).toEqual(CODEX.slice(0, 7))
  expect(at({ at: 'after-tool', callId: 'c-1' })).toEqual(CODEX.slice(0, 9))
  expect(at({ at: 'turn-end' })).toEqual(CODEX)
})

const GEMINI = lines([
  { sessionId: 's' },
  { $set: { messages: [{ type: 'user' }] } },
  { id: '1', type: 'user', content: [{ text: 'First' }] },
  { id: '2', type: 'gemini', content: 'Done.' },
  { id: '3', type: 'user', content: [{ text: 'Second' }] },
  { id: '4', type: 'gemini', content: '', toolCalls: [{}] },
  { id: '5', type: 'user', content: [{ functionResponse: {} }] },
])

test('Gemini CLI: a turn is found by its prompt, wherever in it the checkpoint was made', () => {
  const at = (point: Partial<ConversationPoint>) =>
    truncateConversation(geminiFormat, { ...POINT, turnId: undefined, ...point }, [GEMINI]).lines
  expect(at({})).toEqual(GEMINI.slice(0, 4))
  expect(at({ at: 'after-tool' })).toEqual(GEMINI.slice(0, 4))
  expect(at({ prompt: 'First' })).toEqual([])
  expect(at({ at: 'turn-end' })).toEqual(GEMINI)
})
