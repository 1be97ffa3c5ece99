// Tokens and cost from the lines of transcripts. The lines have the shape that the programs write, cut to what is read.
import { expect, test } from 'vitest'
import { addUsage, parseUsage, type Usage } from '../../../src/agents/conversation/usage.js'

const lines = (...entries: readonly object[]) => entries.map((entry) => JSON.stringify(entry))
const amounts = (usage: Usage | undefined) =>
  usage && [usage.input, usage.output, usage.cached, usage.costUsd]

const claude = (id: string, output: number, more: object = {}) => ({
  type: 'assistant',
  message: {
    id,
    role: 'assistant',
    content: [{ type: 'text', text: 'Done' }],
    usage: {
      input_tokens: 4,
      cache_creation_input_tokens: 100,
      cache_read_input_tokens: 1000,
      output_tokens: output,
      service_tier: 'standard',
    },
  },
  ...more,
})

test('Claude Code: the blocks of an answer repeat its usage, also across two events', () => {
  const user = { type: 'user', message: { role: 'user', content: 'input_tokens' } }
  const first = addUsage('claude', lines(user, claude('m1', 1), claude('m1', 7)), undefined)
  expect(amounts(first)).toEqual([1104, 7, 1000, null])
  // Between two events it is JSON in the metadata.
  const stored = parseUsage(JSON.parse(JSON.stringify(first)))
  expect(stored).toEqual(first)
  const second = addUsage('claude', lines(claude('m1', 9), claude('m2', 5)), stored)
  expect(amounts(second)).toEqual([2208, 14, 2000, null])
})

test('Claude Code: versions that write the cost', () => {
  const priced = lines(claude('m1', 1, { costUSD: 0.25 }), claude('m2', 1, { costUSD: 0.5 }))
  expect(amounts(addUsage('claude', priced, undefined))).toEqual([2208, 2, 2000, 0.75])
})

const tokens = (input: number, output: number) => ({
  input_tokens: input,
  cached_input_tokens: 10,
  output_tokens: output,
  reasoning_output_tokens: 1,
  total_tokens: input + output,
})

test('Codex: totals, or a record for each response', () => {
  const total = (input: number) => ({
    type: 'event_msg',
    payload: {
      type: 'token_count',
      info: { total_token_usage: tokens(input, 5), last_token_usage: tokens(1, 1) },
    },
  })
  const record = (id: string) => ({
    type: 'token_usage_record',
    payload: { response_id: id, usage: tokens(50, 5) },
  })
  const limits = { type: 'event_msg', payload: { type: 'token_count', info: null } }
  expect(amounts(addUsage('codex', lines(total(100), limits, total(180)), undefined))).toEqual([
    180,
    5,
    10,
    null,
  ])
  const records = addUsage('codex', lines(record('a'), record('b'), record('b')), undefined)
  expect(amounts(records)).toEqual([100, 10, 20, null])
  const both = addUsage('codex', lines(record('a'), total(50), record('b')), undefined)
  expect(amounts(both)).toEqual([50, 5, 10, null])
})

test('Gemini CLI: the same message again replaces the earlier one', () => {
  const message = (id: string, output: number) => ({
    id,
    type: 'gemini',
    content: 'Done',
    tokens: { input: 20, output, cached: 8, thoughts: 3, tool: 0, total: 23 + output },
  })
  const read = lines({ id: 'u', type: 'user', content: 'x' }, message('a', 1), message('a', 2))
  expect(amounts(addUsage('gemini', read, undefined))).toEqual([20, 5, 8, null])
})

test('agents without amounts, damaged lines and damaged metadata', () => {
  expect(addUsage('cursor', lines(claude('m1', 1)), undefined)).toBe(undefined)
  expect(addUsage('claude', ['{"tokens', '"input_tokens"'], undefined)).toBe(undefined)
  const odd = { type: 'assistant', message: { usage: { input_tokens: -1, output_tokens: 'x' } } }
  expect(amounts(addUsage('claude', lines(odd), undefined))).toEqual([0, 0, 0, null])
  for (const value of [undefined, 1, {}, { input: '1', output: 1, cached: 1 }])
    expect(parseUsage(value)).toBe(undefined)
})
