// The conversation of an agent in its checkpoints, with the real program: hooks run while the agent's transcript grows, is
// replaced and disappears.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { PROGRAM, type Scratch, scratch } from '../cli/program.js'
import { sdk } from '../support/scratch.js'

type Fields = Readonly<Record<string, unknown>>

const fileOf = (s: Scratch) => join(s.folder, 'user', 's-1.jsonl')
const payloadOf = (s: Scratch, eventName: string, fields: Fields) => ({
  session_id: 's-1',
  transcript_path: fileOf(s),
  cwd: s.project,
  hook_event_name: eventName,
  ...fields,
})

function hook(
  s: Scratch,
  eventName: string,
  fields: Fields = {},
  env: Record<string, string> = {},
) {
  const input = JSON.stringify(payloadOf(s, eventName, fields))
  return s.run(['hook', 'claude', eventName], { input, env })
}
const prompt = (s: Scratch, text: string, env?: Record<string, string>) =>
  expect(hook(s, 'UserPromptSubmit', { prompt: text, prompt_id: text }, env).stderr).toBe('')

/** The conversation in each checkpoint of the session, oldest first; null for none. */
async function conversations(s: Scratch): Promise<unknown[]> {
  const store = await sdk.openStore({ home: s.home })
  try {
    const session = await store.session<{ transcript: string[] }>('s-1', {
      create: false,
      lease: false,
    })
    const list = await session.list()
    const states = await Promise.all(list.map(({ id }) => session.stateAt(id)))
    return states.map((state) => state?.transcript ?? null).reverse()
  } finally {
    await store.close()
  }
}

test('each checkpoint has the conversation so far, whatever happens to the transcript', async () => {
  using s = scratch({ 'package.json': '{}' })
  prompt(s, 'one')
  writeFileSync(fileOf(s), '{"n":1}\n{"n":')
  prompt(s, 'two')
  appendFileSync(fileOf(s), '2}\n')
  prompt(s, 'three')
  rmSync(fileOf(s))
  prompt(s, 'vanished')
  writeFileSync(fileOf(s), '{"other":1}\n')
  prompt(s, 'replaced')
  appendFileSync(fileOf(s), '{"other":2}\n')
  prompt(s, 'six')
  const first = ['{"n":1}', '{"n":2}']
  const second = ['{"other":1}', '{"other":2}']
  expect(await conversations(s)).toEqual([null, [first[0]], first, first, [second[0]], second])
})

test("a subagent's transcript is ignored, and an unreadable one is reported", async () => {
  using s = scratch({ 'package.json': '{}' })
  writeFileSync(fileOf(s), '{"n":1}\n')
  prompt(s, 'one')
  const other = join(s.folder, 'user', 'sub.jsonl')
  writeFileSync(other, '{"sub":1}\n')
  s.write({ 'a.txt': 'a' })
  const call = { tool_name: 'Bash', tool_input: { command: 'ls' }, tool_use_id: 'x' }
  hook(s, 'PreToolUse', { ...call, agent_id: 'a-1', transcript_path: other })
  const loop = join(s.folder, 'user', 'loop.jsonl')
  s.shell(`ln -s loop.jsonl ${loop}`)
  hook(s, 'UserPromptSubmit', { prompt: 'x', transcript_path: loop })
  expect(await conversations(s)).toEqual([['{"n":1}'], ['{"n":1}'], ['{"n":1}']])
  expect(JSON.stringify(s.json(['status']))).toContain('transcript claude')
})

test('the conversation is copied also if only a subagent works in the first turn', async () => {
  using s = scratch({ 'package.json': '{}' })
  prompt(s, 'one')
  writeFileSync(fileOf(s), '{"n":1}\n')
  const call = { tool_name: 'Bash', tool_input: { command: 'ls' }, tool_use_id: 'x' }
  hook(s, 'PreToolUse', { ...call, agent_id: 'a-1' })
  s.write({ 'a.txt': 'a' })
  hook(s, 'PostToolUse', { ...call, agent_id: 'a-1', tool_response: {} })
  expect(await conversations(s)).toEqual([null, ['{"n":1}']])
})

test('after a kill at any point, the next event has every line once', async () => {
  using s = scratch({ 'package.json': '{}' })
  writeFileSync(fileOf(s), '{"n":0}\n')
  prompt(s, 'one')
  const points = ['save:captured', 'save:before-row', 'save:after-row']
  for (const [index, point] of points.entries()) {
    appendFileSync(fileOf(s), `{"n":${index + 1}}\n`)
    const killed = hook(s, 'UserPromptSubmit', { prompt: point }, { SAVESTATE_FAILPOINT: point })
    expect(killed.code).toBeNull()
  }
  prompt(s, 'last')
  const lines = readFileSync(fileOf(s), 'utf8').trimEnd().split('\n')
  expect((await conversations(s)).at(-1)).toEqual(lines)
})

test('concurrent hooks add every line once', async () => {
  using s = scratch({ 'package.json': '{}' })
  writeFileSync(fileOf(s), '{"n":0}\n')
  prompt(s, 'one')
  const running = [1, 2, 3, 4].map(async (n) => {
    appendFileSync(fileOf(s), `{"n":${n}}\n`)
    const child = spawn(process.execPath, [PROGRAM, 'hook', 'claude', 'UserPromptSubmit'], {
      cwd: s.project,
      env: s.environment,
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    child.stdin.end(JSON.stringify(payloadOf(s, 'UserPromptSubmit', { prompt: `p${n}` })))
    await once(child, 'exit')
  })
  await Promise.all(running)
  prompt(s, 'last')
  const all = await conversations(s)
  expect(all.length).toBe(6)
  expect(all.at(-1)).toEqual([0, 1, 2, 3, 4].map((n) => `{"n":${n}}`))
})

test('a conversation of 5 MB costs only its growth on disk', async () => {
  using s = scratch({ 'package.json': '{}' })
  const line = (n: number) => `${JSON.stringify({ n, text: noise(n) })}\n`
  writeFileSync(fileOf(s), Array.from({ length: 2500 }, (_, n) => line(n)).join(''))
  expect(statSync(fileOf(s)).size).toBeGreaterThan(5_000_000)
  prompt(s, 'one')
  await conversations(s)
  const before = ledgerBytes(s)
  expect(before).toBeGreaterThan(1_000_000)
  for (let n = 0; n < 5; n += 1) {
    appendFileSync(fileOf(s), line(3000 + n))
    prompt(s, `more ${n}`)
  }
  expect(
    (await conversations(s)).map((lines) => (Array.isArray(lines) ? lines.length : 0)),
  ).toEqual([2500, 2501, 2502, 2503, 2504, 2505])
  // Five lines of 2 kB, and for each checkpoint its row and the few nodes that lead to the new line.
  expect(ledgerBytes(s) - before).toBeLessThan(200_000)
})

function noise(seed: number): string {
  let [value, text] = [seed + 1, '']
  while (text.length < 2000) {
    value = (value * 48_271) % 2_147_483_647
    text += value.toString(36)
  }
  return text
}

function ledgerBytes(s: Scratch): number {
  return ['ledger.db', 'ledger.db-wal']
    .map((name) => statSync(join(s.home, name), { throwIfNoEntry: false })?.size ?? 0)
    .reduce((sum, size) => sum + size, 0)
}
