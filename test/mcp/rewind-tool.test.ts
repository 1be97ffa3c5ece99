// Rewinds over MCP: the switch of the user, the plan and its token.
import { expect, test } from 'vitest'
import { claudePrompt, claudeShell } from '../support/agent-story.js'
import { scratch } from '../cli/program.js'
import { connected, content, type Fields, SWITCH } from './mcp-helpers.js'

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
