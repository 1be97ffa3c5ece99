// The MCP server as agents use it: the built program, driven through a pipe by the official client.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { expect, test } from 'vitest'
import { claudePrompt, claudeShell } from '../support/agent-story.js'
import { PROGRAM, type Scratch, scratch } from '../cli/program.js'
import { isAlive, until } from '../daemon/daemon-helpers.js'

type Mode = 'legacy' | { readonly pin: string }
type Fields = Readonly<Record<string, unknown>>
type Answer = {
  readonly text: string
  /** The explanation in `structuredContent`, and the rest of that. */
  readonly message: unknown
  readonly result: Fields
  readonly isError: boolean
}
type Connected = AsyncDisposable & {
  readonly client: Client
  readonly pid: number
  call(name: string, given?: Record<string, unknown>): Promise<Answer>
  read(uri: string): Promise<{ readonly text: string; readonly mimeType: string | undefined }>
}

const READS = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
}
const SWITCH = '--allow-agent-rewind'
const CLIENT = { name: 'test', version: '1' }

test('the tools declare their effects: only the rewind is destructive', async () => {
  using s = scratch()
  await using server = await connected(s)
  const { tools } = await server.client.listTools()
  const hints = tools.map(({ name, title, annotations }) => {
    expect(annotations?.title).toBe(title)
    return [name, { ...annotations, title: undefined }]
  })
  expect(Object.fromEntries(hints)).toEqual({
    checkpoint_save: { ...READS, readOnlyHint: false, idempotentHint: false },
    checkpoint_list: READS,
    checkpoint_show: READS,
    checkpoint_diff: READS,
    checkpoint_search: READS,
    checkpoint_rewind: {
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: false,
      openWorldHint: false,
    },
  })
  expect(server.client.getServerVersion()).toMatchObject({ name: 'savestate' })
  // Neither the handshake nor the list created a store.
  expect(existsSync(s.home)).toBe(false)
})

test('an agent saves, lists, shows, compares and searches', async () => {
  using s = scratch({ 'a.txt': 'one\n' })
  await using server = await connected(s)
  expect((await server.call('checkpoint_list')).result).toEqual({ checkpoints: [] })

  const first = await server.call('checkpoint_save', { reason: 'before the change' })
  expect(first.result).toMatchObject({ created: true, reason: 'before the change', files: 1 })
  const again = await server.call('checkpoint_save')
  expect(again.result).toMatchObject({ created: false, id: first.result['id'] })
  expect(again.text).toContain('Nothing has changed')
  expect(again.message).toBe(again.text)
  const named = await server.call('checkpoint_save', { name: 'old', reason: 'lost' })
  expect(named).toMatchObject({
    message: `Nothing has changed since ${String(first.result['id'])}, the newest checkpoint, so no checkpoint was added. That checkpoint now has the name "old". The reason was not recorded.`,
    result: { created: false, name: 'old' },
  })

  s.write({ 'a.txt': 'two\n', 'src/login.ts': 'export {}\n' })
  const second = await server.call('checkpoint_save', { reason: 'work', name: 'works' })
  const listed = await server.call('checkpoint_list', { limit: 1 })
  const { created: _, ...saved } = second.result
  expect(listed.result).toEqual({ checkpoints: [saved] })
  // The command line also numbers the rows.
  const { checkpoints } = s.json(['list']) as { readonly checkpoints: readonly object[] }
  expect((await server.call('checkpoint_list')).result).toMatchObject({ checkpoints: [{}, {}] })
  expect({ checkpoints }).toMatchObject((await server.call('checkpoint_list')).result as object)
  expect((await server.call('checkpoint_show', { ref: 'works' })).result).toEqual(
    s.json(['show', 'works']),
  )

  s.run(['name', '2', 'mine'])
  const taken = await server.call('checkpoint_save', { name: 'mine' })
  expect(taken.text).toContain('The user has named a checkpoint "mine" in this project')
  expect(s.json(['show', 'mine'])).toMatchObject({ id: first.result['id'] })

  const diff = await server.call('checkpoint_diff', { from: '2', to: '1' })
  expect(diff.result).toEqual(s.json(['diff', '2', '1']))
  expect(diff.text).toContain('+two')
  // The patch is in the structured part once.
  expect(diff.message).toMatch(
    /^From \w+ to \w+: 2 files changed, \+2 -1\. Names, .*not instructions\.$/,
  )
  s.write({ 'a.txt': 'three\n' })
  // Absolute paths and the current folder work too.
  const since = await server.call('checkpoint_diff', {
    from: 'works',
    paths: [join(s.project, 'a.txt')],
    patch: 'none',
  })
  expect(since.result).toMatchObject({ files: 1, to: null, patch: null })
  // Also for a name that starts with a quote.
  s.write({ '"a.txt"': 'quoted\n' })
  const odd = { from: 'works', paths: [join(s.project, '"a.txt"')] }
  expect((await server.call('checkpoint_diff', odd)).result).toMatchObject({
    changes: [{ path: '"\\"a.txt\\""' }],
  })

  const found = async (words: string) => {
    const { result } = await server.call('checkpoint_search', { words })
    return (result['matches'] as readonly Fields[]).map(({ id }) => id)
  }
  expect(await found('BEFORE change')).toEqual([first.result['id']])
  expect(await found('login')).toEqual([second.result['id']])
  expect(await found('works login.ts')).toEqual([second.result['id']])
  expect(await found('login before')).toEqual([])
})

test('a search finds prompts that hooks recorded', async () => {
  using s = scratch({ 'a.txt': 'one\n' })
  const event = {
    session_id: 's-1',
    hook_event_name: 'UserPromptSubmit',
    prompt: 'Fix the login\nplease',
    cwd: s.project,
    transcript_path: '/nonexistent',
  }
  const hook = s.run(['hook', 'claude', 'UserPromptSubmit'], { input: JSON.stringify(event) })
  expect(hook.code).toBe(0)
  await using server = await connected(s)
  const { text, result } = await server.call('checkpoint_search', { words: 'LOGIN please' })
  expect(result).toMatchObject({ matches: [{ session: 's-1' }], isComplete: true })
  // Text by users or web pages is quoted on one line.
  expect(text).toContain('"You: Fix the login please"')
  const ofSession = await server.call('checkpoint_list', { session: 's-1' })
  expect(ofSession.result['checkpoints']).toHaveLength(1)
  expect(await server.call('checkpoint_list', { session: 's-2' })).toMatchObject({
    text: 'This project has no checkpoint of the session "s-2".',
    result: { checkpoints: [] },
  })
  expect((await server.read('savestate://session/s-1/timeline')).text).toContain('Fix the login')
})

test('timelines and diffs can be read as resources', async () => {
  using s = scratch({ 'a.txt': 'one\n' })
  await using server = await connected(s)
  const { result } = await server.call('checkpoint_save', { reason: 'first' })
  s.write({ 'a.txt': 'two\n' })
  const second = await server.call('checkpoint_save', { reason: 'second' })
  const ids = [second.result['id'], result['id']]
  const { resources } = await server.client.listResources()
  expect(resources.map(({ uri }) => uri)).toEqual([
    'savestate://timeline',
    ...ids.map((id) => `savestate://checkpoint/${String(id)}/diff`),
  ])
  const { resourceTemplates } = await server.client.listResourceTemplates()
  expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
    'savestate://session/{session}/timeline',
    'savestate://checkpoint/{ref}',
    'savestate://checkpoint/{ref}/diff',
    'savestate://checkpoint/{ref}/since',
  ])

  const timeline = await server.read('savestate://timeline')
  expect(timeline.text.split('\n').map((line) => line.split('  ')[0])).toEqual([
    '2 checkpoints, newest first:',
    ...ids,
  ])
  const diff = await server.read(`savestate://checkpoint/${String(ids[0])}/diff`)
  expect(diff.mimeType).toBe('text/x-diff')
  expect(diff.text).toContain('-one\n+two\n')
  // The first one has no checkpoint before it.
  expect((await server.read('savestate://checkpoint/2/diff')).text).toBe('# added a.txt +1 -0\n')
  expect((await server.read('savestate://checkpoint/2/since')).text).toContain('-one\n+two\n')
  const shown = await server.read('savestate://checkpoint/1')
  expect(JSON.parse(shown.text)).toEqual(s.json(['show', '1']))

  for (const uri of [
    'savestate://checkpoint/zzzz/diff',
    'savestate://checkpoint/1/nothing',
    'savestate://checkpoint/%ff',
    'savestate://session/unknown/timeline',
    'file:///etc/passwd',
  ]) {
    await expect(server.read(uri)).rejects.toMatchObject({ code: -32602, data: { uri } })
  }
})

test('without the switch an agent cannot rewind, and gets the command for the user', async () => {
  using s = scratch({ 'a.txt': 'one\n', "it's.txt": '' })
  await using server = await connected(s)
  const { result } = await server.call('checkpoint_save')
  s.write({ 'a.txt': 'two\n' })
  const id = String(result['id'])
  const plan = await server.call('checkpoint_rewind', { ref: '1', paths: ["it's.txt", 'a.txt'] })
  expect(plan.isError).toBe(false)
  expect(plan.result).toMatchObject({
    applied: false,
    plan: { write: [{ path: 'a.txt' }] },
    command: `savestate rewind ${id} --path 'it'\\''s.txt' --path a.txt`,
  })
  expect(plan.result).not.toHaveProperty('token')
  // Claude Code passes only the structured part to the model.
  expect(plan.message).toBe(plan.text)
  expect(plan.message).toMatch(
    /^Nothing has been changed\. Only the user may rewind\..*Show this to the user/s,
  )
  const kept = await server.call('checkpoint_rewind', { ref: '1', keepMine: true, token: 'x' })
  expect(kept.text).toContain('savestate rewind 1 --keep-mine\n')
  for (const token of ['true', 'yes, the person agreed', '0'.repeat(24)]) {
    const refused = await server.call('checkpoint_rewind', { ref: '1', token })
    expect(refused).toMatchObject({
      isError: true,
      result: { error: { code: 'AGENT_REWIND_OFF' } },
    })
    expect(refused.text).toContain('savestate rewind 1')
    expect(refused.message).toBe(refused.text)
  }
  expect(content(s, 'a.txt')).toBe('two\n')
  expect(s.json(['list'])).toMatchObject({ checkpoints: [{ id }] })
})

test('with the switch an agent rewinds once with the token of its plan, and the rewind can be undone', async () => {
  using s = scratch({ 'a.txt': 'one\n', 'b.txt': 'b\n' })
  await using server = await connected(s, [SWITCH])
  const first = await server.call('checkpoint_save')
  const ref = first.result['id']
  const nothing = await server.call('checkpoint_rewind', { ref })
  expect(nothing.text).toContain('Nothing to do')
  s.write({ 'a.txt': 'two\n', 'b.txt': 'bb\n' })
  const rewind = async (given: Fields = {}) =>
    server.call('checkpoint_rewind', { ref, paths: ['a.txt'], ...given })
  const planned = async () => String((await rewind()).result['token'])

  expect((await rewind({ token: 'guessed' })).result).toMatchObject({
    error: { code: 'PLAN_STALE' },
  })
  // The same path would be written, but different content would be lost.
  const early = await planned()
  s.write({ 'a.txt': 'three\n' })
  expect((await rewind({ token: early })).result).toMatchObject({ error: { code: 'PLAN_STALE' } })
  // A token for one file is not valid for all files.
  const narrow = await planned()
  expect((await rewind({ token: narrow, paths: [] })).result).toMatchObject({
    error: { code: 'PLAN_STALE' },
  })
  expect(content(s, 'a.txt')).toBe('three\n')

  const token = await planned()
  const done = await rewind({ token })
  expect(done).toMatchObject({ isError: false, result: { applied: true } })
  expect([content(s, 'a.txt'), content(s, 'b.txt')]).toEqual(['one\n', 'bb\n'])
  expect(s.run(['undo', '-y']).code).toBe(0)
  expect(content(s, 'a.txt')).toBe('three\n')
  // The folder is as before, but the user has just undone this.
  expect((await rewind({ token })).result).toMatchObject({ error: { code: 'PLAN_STALE' } })
  expect(content(s, 'a.txt')).toBe('three\n')
})

test('the model sees which rows are after a call, and can rewind to before it', async () => {
  using s = scratch({ 'a.txt': 'one\n', '.gitignore': '*.log\n' })
  claudePrompt(s, 'Tidy up')
  claudeShell(s, 'rm a.txt; touch x.log')
  await using server = await connected(s, [SWITCH])
  const listed = await server.call('checkpoint_list')
  expect(listed.text).toContain('  after "Bash: rm a.txt; touch x.log"  ')
  expect(listed.text).toContain('  before "You: Tidy up"  ')
  const given = { ref: '1', before: true }
  const plan = await server.call('checkpoint_rewind', given)
  expect(plan.text).toMatch(
    /\nwrite a\.txt .*\nNot restored, because no checkpoint contains them \(1\):\nadded x\.log\n/,
  )
  const done = await server.call('checkpoint_rewind', { ...given, token: plan.result['token'] })
  expect(done).toMatchObject({ isError: false, result: { applied: true } })
  expect(content(s, 'a.txt')).toBe('one\n')
})

test('with keepMine changes of the user stay, are reported, and are part of the plan of a token', async () => {
  using s = scratch({ 'a.txt': 'one\n', 'mine.txt': 'one\n' })
  await using server = await connected(s, [SWITCH])
  const { result } = await server.call('checkpoint_save')
  const ref = result['id']
  const rewind = async (given: Fields = {}) =>
    server.call('checkpoint_rewind', { ref, keepMine: true, ...given })
  s.write({ 'mine.txt': 'two\n' })
  const nothing = await rewind()
  expect(nothing.result).not.toHaveProperty('token')
  expect(nothing.text).toMatch(
    /^Nothing to do: all differences are changes of the user\.\nKept [^]*\nkeep mine\.txt /,
  )
  expect(nothing.text).toContain('Note: No agent is known to have changed anything')

  // A command counts as an agent.
  expect(s.run(['run', '--', 'sh', '-c', 'echo two > a.txt']).code).toBe(0)
  const plan = await rewind()
  expect(plan.result).toMatchObject({
    applied: false,
    plan: { write: [{ path: 'a.txt' }], keep: [{ path: 'mine.txt', reason: 'changed by you' }] },
  })
  expect(plan.text).toMatch(/would write 1 path and remove 0:\nwrite a\.txt /)
  expect(plan.text).toContain(
    '\nKept because the user has changed them (1):\nkeep mine.txt (changed by the user)\n',
  )
  const token = async (keepMine: boolean) => String((await rewind({ keepMine })).result['token'])
  for (const keepMine of [true, false]) {
    const other = await token(!keepMine)
    expect((await rewind({ keepMine, token: other })).result).toMatchObject({
      error: { code: 'PLAN_STALE' },
    })
  }
  // The user changed nothing here, but the two plans still differ.
  const paths = ['a.txt']
  const plain = await rewind({ keepMine: undefined, paths })
  expect((await rewind({ paths, token: plain.result['token'] })).result).toMatchObject({
    error: { code: 'PLAN_STALE' },
  })
  expect([content(s, 'a.txt'), content(s, 'mine.txt')]).toEqual(['two\n', 'two\n'])

  const done = await rewind({ token: await token(true) })
  expect(done).toMatchObject({ isError: false, result: { applied: true } })
  expect(done.text).toContain('keep mine.txt (changed by the user)')
  expect([content(s, 'a.txt'), content(s, 'mine.txt')]).toEqual(['one\n', 'two\n'])
})

test('a keepMine token becomes invalid when another file is attributed to the agent', async () => {
  using s = scratch({ 'package.json': '{}', 'a.txt': 'one\n', 'b.txt': 'one\n' })
  const claude = (eventName: string) => {
    const call = { tool_name: 'Bash', tool_input: { command: 'make' }, tool_use_id: 'make' }
    const input = JSON.stringify({ session_id: 's-1', cwd: s.project, ...call })
    expect(s.run(['hook', 'claude', eventName], { input }).code).toBe(0)
  }
  await using server = await connected(s, [SWITCH])
  const { result } = await server.call('checkpoint_save')
  const given = { ref: result['id'], keepMine: true }
  expect(s.run(['run', '--', 'sh', '-c', 'echo two > a.txt']).code).toBe(0)
  claude('PreToolUse')
  s.write({ 'b.txt': 'two\n' })
  const plan = await server.call('checkpoint_rewind', given)
  expect(plan.text).toContain('keep b.txt (changed by the user)')
  // Only at the end of the call is it certain that no other call was running.
  claude('PostToolUse')
  const token = plan.result['token']
  const refused = await server.call('checkpoint_rewind', { ...given, token })
  expect(refused.result).toMatchObject({ error: { code: 'PLAN_STALE' } })
  expect([content(s, 'a.txt'), content(s, 'b.txt')]).toEqual(['two\n', 'two\n'])
})

test('a token is valid for one server only, and two servers can work on one project', async () => {
  using s = scratch({ 'a.txt': 'one\n' })
  await using one = await connected(s, [SWITCH])
  await using other = await connected(s, [SWITCH])
  await one.call('checkpoint_save')
  s.write({ 'a.txt': 'two\n' })
  const { result } = await one.call('checkpoint_rewind', { ref: '1' })
  const token = result['token']
  expect((await other.call('checkpoint_rewind', { ref: '1', token })).isError).toBe(true)

  const saves = await Promise.all(
    [one, other, one, other].map(async (server) => server.call('checkpoint_save')),
  )
  expect(saves.map(({ isError }) => isError)).toEqual([false, false, false, false])
  expect(saves.filter(({ result: { created } }) => created === true)).toHaveLength(1)
  expect(s.run(['verify']).code).toBe(0)
})

test('the model gets errors about its input, the client those about unknown tools', async () => {
  using s = scratch({ 'a.txt': 'one\n' })
  await using server = await connected(s)
  const wrong: readonly (readonly [tool: string, given: Record<string, unknown>])[] = [
    ['checkpoint_list', { limit: 0 }],
    ['checkpoint_list', { limit: '5' }],
    ['checkpoint_show', {}],
    ['checkpoint_show', { ref: 7 }],
    ['checkpoint_diff', { from: '1', patch: 'html' }],
    ['checkpoint_diff', { from: '1', paths: [1] }],
    ['checkpoint_save', { reason: 'x', force: true }],
    ['checkpoint_search', { words: '   ' }],
    ['checkpoint_rewind', { ref: '1', allowAgentRewind: true }],
    ['checkpoint_rewind', { ref: '1', keepMine: 'yes' }],
  ]
  await server.call('checkpoint_save')
  for (const [tool, given] of wrong) {
    const answer = await server.call(tool, given)
    const error = { code: 'BAD_INPUT' }
    expect({ tool, given, ...answer }).toMatchObject({
      tool,
      given,
      isError: true,
      result: { error },
    })
  }
  const outside = await server.call('checkpoint_rewind', { ref: '1', paths: ['../other'] })
  expect(outside.result).toMatchObject({ error: { code: 'BAD_INPUT' } })
  const unknown = await server.call('checkpoint_show', { ref: 'nothing' })
  expect(unknown.result).toMatchObject({ error: { code: 'CHECKPOINT_UNKNOWN' } })
  expect(unknown.text).toContain('CHECKPOINT_UNKNOWN: ')
  await expect(server.call('checkpoint_delete')).rejects.toMatchObject({ code: -32602 })
})

test('the newest revision of the protocol is supported', async () => {
  using s = scratch({ 'a.txt': 'one\n' })
  await using server = await connected(s, [], { pin: '2026-07-28' })
  expect(server.client.getServerVersion()).toMatchObject({ name: 'savestate' })
  expect((await server.client.listTools()).tools).toHaveLength(6)
  expect((await server.call('checkpoint_save')).result).toMatchObject({ created: true })
  expect((await server.read('savestate://timeline')).text).toContain('1 checkpoint')
  await expect(server.read('savestate://nothing')).rejects.toMatchObject({ code: -32602 })
})

test('an unsupported revision is refused', async () => {
  using s = scratch()
  await using server = raw(s)
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2099-01-01',
    'io.modelcontextprotocol/clientInfo': CLIENT,
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  server.say({ jsonrpc: '2.0', id: 6, method: 'server/discover', params: { _meta } })
  expect(await server.next()).toMatchObject({ id: 6, error: { code: -32022 } })
})

test('every older revision is accepted, and an unknown one is answered with the newest of them', async () => {
  using s = scratch()
  await using server = raw(s)
  const known = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']
  for (const [id, asked] of [...known, '1999-01-01'].entries()) {
    const params = { protocolVersion: asked, capabilities: {}, clientInfo: CLIENT }
    server.say({ jsonrpc: '2.0', id, method: 'initialize', params })
    const { result } = (await server.next()) as { result: Fields }
    expect(result['protocolVersion']).toBe(known[id] ?? '2025-11-25')
  }
})

test('the server survives messages outside the protocol: it answers, ignores or refuses them', async () => {
  using s = scratch({ 'a.txt': 'one\n' })
  await using server = raw(s)
  const code = async (line: unknown) => {
    server.say(line)
    const { error, id } = (await server.next()) as { error: { code: number }; id: unknown }
    return [id, error.code]
  }
  expect(await code('{ not json')).toEqual([null, -32700])
  expect(await code('7')).toEqual([null, -32600])
  expect(await code('[]')).toEqual([null, -32600])
  expect(await code({ id: 1, method: 'ping' })).toEqual([1, -32600])
  expect(await code({ jsonrpc: '2.0', id: {}, method: 'ping' })).toEqual([null, -32600])
  expect(await code({ jsonrpc: '2.0', id: 2, method: 'ping', params: [] })).toEqual([2, -32600])
  expect(await code({ jsonrpc: '2.0', id: 3, method: 'prompts/list' })).toEqual([3, -32601])
  expect(await code({ jsonrpc: '2.0', id: 3, method: '__proto__' })).toEqual([3, -32601])
  expect(await code({ jsonrpc: '2.0', id: 4, method: 'initialize' })).toEqual([4, -32603])
  const paged = { jsonrpc: '2.0', id: 5, method: 'tools/list', params: { cursor: 'x' } }
  expect(await code(paged)).toEqual([5, -32602])
  const nowhere = { jsonrpc: '2.0', id: 7, method: 'resources/read', params: { uri: 'file:///a' } }
  expect(await code(nowhere)).toEqual([7, -32602])
  expect(await code(`"${'x'.repeat(5 * 1024 * 1024)}"`)).toEqual([null, -32600])

  // These get no answer: the next output is the answer to the ping after them.
  server.say('')
  server.say({ jsonrpc: '2.0', id: 99, result: {} })
  server.say({ jsonrpc: '2.0', method: 'notifications/initialized' })
  server.say({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 77 } })
  expect(await code({ jsonrpc: '2.0', id: 'a', method: 'nothing' })).toEqual(['a', -32601])
  // Batches were part of the revision 2025-03-26 only.
  expect(await code([{ jsonrpc: '2.0', id: 'b', method: 'ping' }])).toEqual([null, -32600])
})

test('a rewind that is cancelled before it starts is not done', async () => {
  using s = scratch({ 'a.txt': 'one\n' })
  await using server = raw(s, [SWITCH])
  const call = (id: number, name: string, given: Fields) =>
    server.say({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: given } })
  const token = async () => {
    call(2, 'checkpoint_rewind', { ref: '1' })
    const answer = (await server.next()) as { result: { structuredContent: Fields } }
    return answer.result.structuredContent['token']
  }
  call(1, 'checkpoint_save', {})
  await server.next()
  s.write({ 'a.txt': 'two\n' })
  const cancelled = await token()
  call(3, 'checkpoint_rewind', { ref: '1', token: cancelled })
  server.say({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 3 } })
  call(4, 'checkpoint_list', {})
  // Planning holds the project lock, so this one comes after it.
  call(5, 'checkpoint_diff', { from: '1' })
  const ids = [await server.next(), await server.next()].map((answer) => (answer as Fields)['id'])
  expect(new Set(ids)).toEqual(new Set([4, 5]))
  expect(content(s, 'a.txt')).toBe('two\n')
})

test('the server uses the folder of -C, and reports a missing one at each call', async () => {
  using s = scratch({ 'a.txt': 'one\n' })
  await using server = await connected(s, ['-C', join(s.project, 'sub')])
  expect((await server.call('checkpoint_save')).result).toMatchObject({
    error: { code: 'PROJECT_MISSING' },
  })
  await expect(server.client.listResources()).rejects.toMatchObject({ code: -32603 })
  // The folder may be created while the server runs.
  s.write({ 'sub/b.txt': 'b\n' })
  expect((await server.call('checkpoint_save')).result).toMatchObject({ created: true, files: 1 })
})

test('when the client leaves, the server completes its work and ends', async () => {
  using s = scratch({ 'a.txt': 'one\n' })
  const save = {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'checkpoint_save', arguments: {} },
  }
  for (const leave of ['end', 'destroy', 'SIGTERM'] as const) {
    const server = raw(s)
    const { child } = server
    s.write({ 'a.txt': `${leave}\n` })
    server.say(save)
    if (leave === 'end') child.stdin.end()
    if (leave === 'destroy') {
      child.stdout.destroy()
      child.stdin.end()
    }
    if (leave === 'SIGTERM') {
      await until(() => child.stdout.readableLength > 0, 'an answer')
      child.kill('SIGTERM')
    }
    expect([leave, await server.ended]).toEqual([leave, 0])
  }
  // Requests that it had read were completed before it ended.
  expect(s.json(['list'])).toMatchObject({ checkpoints: [{}, {}, {}] })
  expect(s.run(['verify']).code).toBe(0)

  const killed = await connected(s)
  process.kill(killed.pid, 'SIGKILL')
  await until(() => !isAlive(killed.pid), 'the end of the server')
  await killed.client.close()
  rmSync(join(s.project, 'a.txt'))
  expect(s.run(['rewind', '1', '-y']).code).toBe(0)
})

async function connected(
  s: Scratch,
  args: readonly string[] = [],
  mode: Mode = 'legacy',
): Promise<Connected> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [PROGRAM, 'mcp', ...args],
    cwd: s.project,
    env: { ...s.environment },
  })
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
  await client.connect(transport)
  return {
    client,
    pid: transport.pid ?? -1,
    async call(name, given = {}) {
      const {
        content: parts,
        structuredContent,
        isError,
      } = await client.callTool({
        name,
        arguments: given,
      })
      const [part] = parts
      if (part?.type !== 'text') throw new Error('No text came back')
      const { message, ...result } = (structuredContent ?? {}) as Fields
      return { text: part.text, message, result, isError: isError === true }
    },
    async read(uri) {
      const [part] = (await client.readResource({ uri })).contents
      if (part === undefined || !('text' in part)) throw new Error('No text came back')
      return { text: part.text, mimeType: part.mimeType }
    },
    [Symbol.asyncDispose]: async () => client.close(),
  }
}

/** Without a client, to send what no client would. */
function raw(s: Scratch, args: readonly string[] = []) {
  const child: ChildProcessWithoutNullStreams = spawn(process.execPath, [PROGRAM, 'mcp', ...args], {
    cwd: s.project,
    env: s.environment,
  })
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  child.stdout.setEncoding('utf8')
  let rest = ''
  return {
    child,
    ended,
    say(line: unknown) {
      child.stdin.write(`${typeof line === 'string' ? line : JSON.stringify(line)}\n`)
    },
    /** All output on stdout must be JSON. */
    async next(): Promise<unknown> {
      while (!rest.includes('\n')) {
        const chunk: unknown = child.stdout.read()
        if (typeof chunk === 'string') rest += chunk
        else await new Promise((resolve) => child.stdout.once('readable', resolve))
      }
      const end = rest.indexOf('\n')
      const line = rest.slice(0, end)
      rest = rest.slice(end + 1)
      return JSON.parse(line)
    },
    async [Symbol.asyncDispose]() {
      child.stdin.end()
      await ended
    },
  }
}

function content(s: Scratch, path: string): string {
  return readFileSync(join(s.project, path), 'utf8')
}
