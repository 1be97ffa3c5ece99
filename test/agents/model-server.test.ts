// The scripted model of e2e/ without an agent: a client in this file has the same conversation in each of the four dialects,
// streamed and not. The server must report the same messages for all of them.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { spoken } from '../../e2e/model-server/conversation.js'
import { scripted } from '../../e2e/model-server/script.js'
import { type ModelServer, startModelServer } from '../../e2e/model-server/server.js'
import { CLIENTS, type Client, TOOLS, type Turn } from './model-clients.js'

let server: ModelServer
beforeAll(async () => {
  server = await startModelServer()
})
afterAll(() => server.close())

const PROMPT = scripted('Please work', [
  { write: 'a.txt', content: 'one\n' },
  { together: [{ shell: 'echo two > b.txt' }, { delete: 'c.txt' }] },
  { agent: [{ say: 'sub' }], title: 'Help' },
  { say: 'Finished.' },
])

const HISTORY = [
  { kind: 'prompt', text: PROMPT },
  { kind: 'call', tool: 'write_file', input: { file_path: 'a.txt', content: 'one\n' } },
  { kind: 'result', text: 'result of write_file' },
  { kind: 'call', tool: 'bash', input: { command: 'echo two > b.txt', background: false } },
  { kind: 'call', tool: 'bash', input: { command: 'rm c.txt', background: false } },
  { kind: 'result', text: 'result of bash' },
  { kind: 'result', text: 'result of bash' },
  {
    kind: 'call',
    tool: 'task',
    input: { prompt: 'Help <steps>[{"say":"sub"}]</steps>', subagent_type: 'general' },
  },
  { kind: 'result', text: 'result of task' },
]

/** Runs until the model is done; returns its last message. */
async function work(client: Client, prompt: string): Promise<string> {
  const turns: Turn[] = [{ role: 'user', text: prompt }]
  for (;;) {
    const answer = await client.ask(server.origin, turns)
    if (answer.calls.length === 0) return answer.text
    turns.push({ role: 'assistant', calls: answer.calls })
    const results = answer.calls.map(({ id, name }) => ({ id, name, text: `result of ${name}` }))
    turns.push({ role: 'tool', results })
  }
}

for (const client of CLIENTS) {
  test(`${client.name}: the model follows the script, and the history is complete`, async () => {
    expect(await work(client, PROMPT)).toBe('Finished.')
    const last = server.received.at(-1)
    expect(spoken(last?.entries ?? [])).toEqual(HISTORY)
    expect(last?.tools.map(({ name }) => name)).toEqual(TOOLS.map(({ name }) => name))
    expect(server.faults).toEqual([])
  })

  test(`${client.name}: a failing step is an API error`, async () => {
    const prompt = scripted('Please fail', [{ fail: 429 }])
    await expect(client.ask(server.origin, [{ role: 'user', text: prompt }])).rejects.toThrow('429')
  })
}

test('a conversation that continues after its script follows the next script from its start', async () => {
  const [client] = CLIENTS
  const turns: Turn[] = [
    { role: 'user', text: scripted('One', [{ shell: 'true' }, { say: 'One.' }]) },
    { role: 'assistant', calls: [{ id: 'call-1', name: 'bash', input: { command: 'true' } }] },
    { role: 'tool', results: [{ id: 'call-1', name: 'bash', text: 'ok' }] },
    { role: 'assistant', calls: [], text: 'One.' },
    { role: 'user', text: scripted('Two', [{ shell: 'false' }]) },
  ]
  const answer = await client?.ask(server.origin, turns)
  expect(answer?.calls.map(({ input }) => input)).toEqual([{ command: 'false', background: false }])
})

test('a step for which the agent has no tool is reported', async () => {
  const own = await startModelServer()
  try {
    const tools = [{ name: 'bash', parameters: { type: 'object', properties: {} } }]
    const messages = [{ role: 'user', content: scripted('x', [{ agent: [{ say: 'sub' }] }]) }]
    const response = await fetch(`${own.origin}/v1/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ messages, tools: tools.map((tool) => ({ function: tool })) }),
    })
    expect(response.status).toBe(400)
    expect(own.faults).toEqual([expect.stringContaining('no tool to start a subagent')])
  } finally {
    await own.close()
  }
})
