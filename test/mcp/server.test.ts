// The protocol: revisions, errors, malformed messages, cancellation and the end of the service.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { scratch } from '../cli/program.js'
import { isAlive, until } from '../daemon/daemon-helpers.js'
import { CLIENT, connected, content, type Fields, raw, SWITCH } from './mcp-helpers.js'

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
    ['checkpoint_undo_plan', { refs: '1' }],
    ['checkpoint_undo_plan', { refs: [] }],
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
  expect((await server.client.listTools()).tools).toHaveLength(10)
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
