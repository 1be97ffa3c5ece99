// Long texts, secrets at cuts, and content that tries to break the reader.
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { AGENT_NAMES } from '../../../src/base/index.js'
import type { ConversationPart } from '../../../src/agents/conversation/items.js'
import {
  type ConversationFormat,
  conversationKey,
  formatOf,
  readConversationItems,
  readItemText,
} from '../../../src/agents/conversation/read-items.js'

const FORMATS: readonly ConversationFormat[] = [...AGENT_NAMES, 'messages']
const MASK = '••••••'

function partsOf(
  entry: unknown,
  options: { readonly reveal?: boolean; readonly maxChars?: number } = {},
): readonly ConversationPart[] {
  return readConversationItems([entry], { format: 'messages', ...options })[0]?.parts ?? []
}

const said = (content: string) => ({ role: 'assistant', content })
const result = (content: string) => ({ role: 'tool', tool_call_id: 'c', content })
const call = (name: string, input: unknown) => ({
  role: 'assistant',
  content: [{ type: 'tool_use', id: 'c', name, input }],
})
const summaryOf = (input: unknown) => {
  const [part] = partsOf(call('tool', input))
  return part?.kind === 'call' ? part.summary : undefined
}

test('the agent decides the format, and the format the key of the state', () => {
  expect(formatOf('claude')).toBe('claude')
  expect([formatOf(null), formatOf('my-agent'), formatOf('__proto__')]).toEqual(
    Array.from({ length: 3 }, () => 'messages'),
  )
  expect(FORMATS.filter((format) => conversationKey(format) === 'messages')).toEqual(['messages'])
})

test('a long text is cut, and its rest is read in pieces', () => {
  const text = Array.from({ length: 5000 }, (_, at) => `line ${at}\n`).join('')
  const [part] = partsOf(said(text))
  expect(part).toEqual({
    kind: 'answer',
    text: { text: text.slice(0, 16_384), restLength: text.length - 16_384, masked: 0 },
  })
  let read = text.slice(0, 16_384)
  for (;;) {
    const more = readItemText(said(text), {
      format: 'messages',
      part: 0,
      offset: read.length,
      maxChars: 10_000,
    })
    read += more.text
    if (more.restLength === 0) break
  }
  expect(read).toBe(text)
  const at = (part: number, offset: number) =>
    readItemText(said(text), { format: 'messages', part, offset })
  expect([at(1, 0), at(-1, 0), at(0, 1e9)]).toEqual(
    Array.from({ length: 3 }, () => ({ text: '', restLength: 0 })),
  )
})

test('a character is never cut in half', () => {
  const text = '😀'.repeat(10)
  expect(partsOf(said(text), { maxChars: 5 })).toEqual([
    { kind: 'answer', text: { text: '😀😀', restLength: 16, masked: 0 } },
  ])
  expect(readItemText(said(text), { format: 'messages', part: 0, offset: 4, maxChars: 3 })).toEqual(
    {
      text: '😀',
      restLength: 14,
    },
  )
})

test('a cut inside a secret does not reveal half of it', () => {
  const secret = `gh${'p_'}${'a1B2'.repeat(10)}`
  const entry = said(`${'x'.repeat(90)} ${secret} ${'y'.repeat(100)}`)
  for (let maxChars = 80; maxChars < 150; maxChars += 1) {
    const [part] = partsOf(entry, { maxChars })
    const { text, restLength } = readItemText(entry, {
      format: 'messages',
      part: 0,
      offset: maxChars,
    })
    const shown = part?.kind === 'answer' ? part.text.text + text : ''
    expect([shown, restLength]).toEqual([`${'x'.repeat(90)} ${MASK} ${'y'.repeat(100)}`, 0])
  }
  expect(partsOf(entry, { reveal: true, maxChars: 100 })).toEqual([
    {
      kind: 'answer',
      text: { text: `${'x'.repeat(90)} ${secret.slice(0, 9)}`, restLength: 136, masked: 0 },
    },
  ])
})

test('secrets in arguments and summaries are masked', () => {
  const input = {
    command: 'curl -H "Authorization: Bearer abcdefgh1234"',
    env: { API_KEY: 'abcd1234' },
  }
  expect(partsOf(call('Bash', input))).toEqual([
    {
      kind: 'call',
      id: 'c',
      tool: 'Bash',
      summary: `curl -H "Authorization: Bearer ${MASK}"`,
      input: {
        text: `command: curl -H "Authorization: Bearer ${MASK}"\nenv:\n  {\n    "API_KEY": "${MASK}"\n  }`,
        restLength: 0,
        masked: 2,
      },
    },
  ])
})

test('colors are removed from results, other control characters stay', () => {
  const colored =
    '\u001b[1;31mred\u001b[0m \u001b]0;title\u0007\u001b(Bplain\u009b2K\u0000\b\r\n\u001b'
  const [part] = partsOf(result(colored))
  expect(part).toEqual({
    kind: 'result',
    id: 'c',
    isError: false,
    text: { text: 'red plain\u0000\b\r\n\u001b', restLength: 0, masked: 0 },
    durationMs: null,
  })
  const split = result(`gh${'p_'}\u001b[1m${'a1B2'.repeat(10)}`)
  expect(JSON.stringify(partsOf(split))).toContain(MASK)
})

test('the summary of a call is one line', () => {
  expect(summaryOf({ command: 'cd a &&\n  npm test', description: 'Run' })).toBe('cd a && npm test')
  expect(summaryOf({ command: ['bash', '-lc', 'ls -a'] })).toBe('ls -a')
  expect(summaryOf({ commands: ['npm ci', 'npm test'] })).toBe('npm ci npm test')
  expect(summaryOf({ command: 'view', path: 'a.ts' })).toBe('view a.ts')
  expect(summaryOf({ old_string: 'a', file_path: '/p/a.ts' })).toBe('/p/a.ts')
  expect(summaryOf({ path: 'src', pattern: 'x+' })).toBe('x+')
  expect(summaryOf({ prompt: 'Long', description: 'Find it' })).toBe('Find it')
  expect(summaryOf({ n: 1, title: 'first', other: 'second' })).toBe('first')
  expect(summaryOf({})).toBe('')
  expect(summaryOf('plain text')).toBe('plain text')
  expect(summaryOf({ command: 'x'.repeat(1000) })).toBe(`${'x'.repeat(199)}…`)
  expect(summaryOf({ command: `a${'\n'.repeat(1_000_000)}` })).toBe('a')
})

const HOSTILE: readonly unknown[] = [
  '',
  'null',
  '[]',
  '7',
  '{"torn',
  '\u0000\ud800',
  '{"type":"__proto__","role":"constructor","message":{"content":[[],7,null,{"type":"toString"}]}}',
  '{"__proto__":{"role":"user","content":"x"},"constructor":1}',
  '{"type":"user","message":7}',
  '{"type":"response_item","payload":null}',
  '{"type":"gemini","toolCalls":{},"content":{"a":1},"thoughts":"x"}',
  '{"$set":{"messages":[null,7,{"type":"gemini"}]}}',
  '{"role":"user","content":{"text":7}}',
  '{"role":7,"tool_calls":[null,{"function":null}]}',
  `${'['.repeat(10_000)}${']'.repeat(10_000)}`,
  `{"role":"user","content":${'[{"content":'.repeat(10_000)}1${'}]'.repeat(10_000)}}`,
  `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"${'i'.repeat(100_000)}","input":${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}}]}}`,
  { role: 'user', content: new Map([['a', 1n]]) },
  Object.create(null),
]

test.each(FORMATS)('malformed entries are notes or empty, never an error: %s', (format) => {
  const items = readConversationItems(HOSTILE, { format })
  expect(items.map(({ index }) => index)).toEqual(HOSTILE.map((_, index) => index))
  expect(items[0]?.parts).toEqual([])
  expect(items[4]?.parts).toEqual([
    { kind: 'note', text: { text: '{"torn', restLength: 0, masked: 0 } },
  ])
  expect(items[7]?.parts).toMatchObject([{ kind: 'note' }])
  expect(Math.max(...items.map((item) => JSON.stringify(item).length))).toBeLessThan(200_000)
  expect(({} as Record<string, unknown>)['role']).toBeUndefined()
})

test('any JSON is read in every format', () => {
  const key = fc.constantFrom(
    'type',
    'role',
    'message',
    'content',
    'payload',
    'data',
    'text',
    'parts',
  )
  const word = fc.constantFrom('user', 'assistant', 'tool', 'text', 'tool_use', 'tool_result', 'x')
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 5 }, word, fc.jsonValue(), tie('record'), fc.array(tie('value'))),
    record: fc.dictionary(key, tie('value')),
  }))
  fc.assert(
    fc.property(value, fc.constantFrom(...FORMATS), (entry, format) => {
      const text = JSON.stringify(entry)
      expect(readConversationItems([text], { format })).toEqual(
        readConversationItems([text, text], { format })
          .slice(1)
          .map((item) => ({ ...item, index: 0 })),
      )
    }),
    { numRuns: 500 },
  )
})

test.each([
  ['password', 'swordfish'],
  ['new_password', 'correct horse battery'],
  ['apiKey', 'abcdefgh'],
  ['auth_token', 'a"b\ncdefgh'],
])('the argument %s is masked in the input and in the summary', (name, value) => {
  const entry = {
    role: 'assistant',
    content: [{ type: 'tool_use', id: '1', name: 'login', input: { [name]: value, user: 'me' } }],
  }
  const call = (text: string, summary: string, masked: number) => [
    { kind: 'call', id: '1', tool: 'login', summary, input: { text, restLength: 0, masked } },
  ]
  const [item] = readConversationItems([entry], { format: 'messages' })
  expect(item?.parts).toEqual(call(`${name}: ••••••\nuser: me`, '••••••', 1))
  expect(readItemText(entry, { format: 'messages', part: 0, offset: 0 })).toEqual({
    text: `${name}: ••••••\nuser: me`,
    restLength: 0,
  })
  const [shown] = readConversationItems([entry], { format: 'messages', reveal: true })
  expect(JSON.stringify(shown?.parts)).not.toContain('•')
})

test('arguments with ordinary names stay', () => {
  const input = { key: 'ArrowDown', sort_key: 'created_at', max_tokens: '4096', pass: 'yes' }
  const entry = { role: 'assistant', content: [{ type: 'tool_use', id: '1', name: 'x', input }] }
  const [item] = readConversationItems([entry], { format: 'messages' })
  expect(item?.parts).toMatchObject([{ summary: 'ArrowDown', input: { masked: 0 } }])
})

test('a line of 20 MB is cut like any other', () => {
  const line = JSON.stringify({ type: 'user', message: { content: 'word '.repeat(4_000_000) } })
  const [item] = readConversationItems([line], { format: 'claude' })
  expect(item?.parts).toEqual([
    {
      kind: 'prompt',
      text: {
        text: 'word '.repeat(4000).slice(0, 16_384),
        restLength: 20_000_000 - 1 - 16_384,
        masked: 0,
      },
    },
  ])
})
