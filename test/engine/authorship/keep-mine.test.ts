// Authorship and `rewind --keep-mine` with the real program, as users see them, and the message that the agent gets after
// a rewind.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { handleHook } from '../../../src/agents/hooks/handle-hook.js'
import { describeReverted } from '../../../src/agents/hooks/reverted-since.js'
import type { Store } from '../../../src/index.js'
import { type Scratch, scratch, steady } from '../../cli/program.js'
import { scratch as sdkScratch } from '../../support/scratch.js'

type Fields = Readonly<Record<string, unknown>>

const shell = (command: string) => ({
  tool_name: 'Bash',
  tool_input: { command },
  tool_use_id: command,
})

function claude(s: Scratch, eventName: string, fields: Fields = {}) {
  const input = JSON.stringify({ session_id: 's-1', cwd: s.project, ...fields })
  const { code, stdout, stderr } = s.run(['hook', 'claude', eventName], { input })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return stdout
}

test('the plan marks the changes of the user, names the checkpoint that saves them, and counts what it lists', () => {
  using s = scratch({ 'package.json': '{}' })
  claude(s, 'UserPromptSubmit', { prompt: 'Go' })
  claude(s, 'PreToolUse', shell('make'))
  s.write({ 'agent.txt': 'agent\n' })
  claude(s, 'PostToolUse', shell('make'))
  s.write({ 'mine/a.txt': 'mine\n', 'mine/b.txt': 'mine\n' })
  expect(steady(s.run(['rewind', '2', '--dry-run']).stdout)).toBe(
    [
      'Would go back to 2 · <id> · just now · before "You: Go":',
      'Will be removed (3 files):',
      '  - agent.txt  (file created later)',
      '  - mine/a.txt  (file created later)  (yours)',
      '  - mine/b.txt  (file created later)  (yours)',
      'To keep what you changed since, marked (yours), add --keep-mine.',
      'A dry run: nothing has been changed.\n',
    ].join('\n'),
  )
  expect(steady(s.run(['rewind', '1', '--before', '--keep-mine', '--dry-run']).stdout)).toMatch(
    /^Would go back to just before "Bash: make" \(\d+ · <id> · just now\):\n[^]*\nStays as it is \(2\):\n.*\n.*\nA dry run/,
  )
})

test('changes of the agent are reverted, changes of the user stay, and both are listed separately', () => {
  using s = scratch({ 'package.json': '{}', 'both.txt': 'base\n' })
  const read = (path: string) => readFileSync(join(s.project, path), 'utf8')
  claude(s, 'UserPromptSubmit', { prompt: 'Go' })
  claude(s, 'PreToolUse', shell('make'))
  s.write({ 'agent.txt': 'agent\n', 'both.txt': 'base\nagent\n', 'src/a.txt': 'agent\n' })
  claude(s, 'PostToolUse', shell('make'))
  s.write({ 'mine.txt': 'mine\n', 'both.txt': 'base\nagent\nmine\n' })
  claude(s, 'PreToolUse', shell('test'))
  s.write({ 'agent.txt': 'agent again\n' })
  claude(s, 'PostToolUse', shell('test'))

  const { checkpoints } = s.json(['list']) as { checkpoints: readonly Fields[] }
  expect(checkpoints.map(({ reason, author }) => [author, reason])).toEqual([
    ['claude', 'Bash: test'],
    ['you', 'Before Bash: test'],
    ['claude', 'Bash: make'],
    ['you', 'You: Go'],
  ])
  expect(s.run(['list']).stdout).toMatch(
    /Before Bash: test +you 2 files \+2 .*\n.*Bash: test +\+1 −1 /,
  )
  const { changes } = s.json(['diff', '4']) as { changes: readonly Fields[] }
  expect(changes.map(({ path, author }) => [path, author])).toEqual([
    ['agent.txt', 'claude'],
    ['both.txt', 'claude+you'],
    ['mine.txt', 'you'],
    ['src', 'claude'],
    ['src/a.txt', 'claude'],
  ])
  expect(s.run(['diff', '4', '2', '--stat']).stdout).toContain(
    'Changed by\n  claude      agent.txt\n  claude+you  both.txt\n  you         mine.txt\n  claude      src/a.txt\n agent.txt',
  )

  const one = s.json([
    'rewind',
    '4',
    '--keep-mine',
    '--path',
    'src',
    '--path',
    'mine.txt',
    '--dry-run',
  ])
  expect(one).toMatchObject({
    plan: {
      write: [],
      remove: [{ path: 'src/a.txt' }, { path: 'src' }],
      keep: [{ path: 'mine.txt', reason: 'changed by you' }],
    },
  })
  const { code, stdout } = s.run(['rewind', '4', '--keep-mine', '--both', '-y'])
  expect(code).toBe(0)
  expect(stdout).toContain(
    '2 files removed, 2 kept. Undo with: savestate undo\nStays as it is (2):\n',
  )
  expect(stdout).toContain('  both.txt  (changed by you)\n  mine.txt  (changed by you)\n')
  expect(['agent.txt', 'src'].filter((path) => existsSync(join(s.project, path)))).toEqual([])
  expect([read('both.txt'), read('mine.txt')]).toEqual(['base\nagent\nmine\n', 'mine\n'])
  expect(s.run(['rewind', '5', '--keep-mine', '-y']).stdout).toContain(
    'Nothing to do: what differs was changed by you.',
  )
  expect(s.run(['undo', '-y']).code).toBe(0)
  expect([read('agent.txt'), read('src/a.txt')]).toEqual(['agent again\n', 'agent\n'])

  // The next turn of the agent gets no message: the rewind was undone.
  expect(claude(s, 'UserPromptSubmit', { prompt: 'And?' })).toBe('')
  s.run(['rewind', '--yes', '5', '--path', 'agent.txt'])
  expect(JSON.parse(claude(s, 'UserPromptSubmit', { prompt: 'And now?' }))).toEqual({
    hookSpecificOutput: {
      hookEventName: 'UserPromptSubmit',
      additionalContext: expect.stringMatching(/Savestate.*: agent\.txt\.$/),
    },
  })
  expect(claude(s, 'UserPromptSubmit', { prompt: 'Go on' })).toBe('')
})

test('without an agent it says that all changes are yours, and changes nothing', () => {
  using s = scratch({ 'a.txt': 'one\n' })
  s.run(['save', '--name', 'start'])
  s.write({ 'a.txt': 'two\n' })
  const { stdout, stderr } = s.run(['rewind', 'start', '--keep-mine', '-y'])
  expect(stderr).toContain('No agent is known to have changed anything since then')
  expect(stdout).toContain('Nothing to do: what differs was changed by you.')
  expect(readFileSync(join(s.project, 'a.txt'), 'utf8')).toBe('two\n')
  // The changes of a command are attributed to the command.
  expect(s.run(['run', '--', 'sh', '-c', 'echo three > b.txt']).code).toBe(0)
  expect(s.json(['list', '--limit', '2'])).toMatchObject({
    checkpoints: [{ author: 'sh' }, { author: 'you' }],
  })
  expect(s.run(['rewind', 'start', '--keep-mine', '-y']).stdout).toContain('1 file removed, 1 kept')
})

test('a rewind that changes only the state still lists the files that stay', () => {
  using s = scratch({ 'a.txt': 'one\n', 'state.json': '{"n":1}' })
  s.run(['save', '--session', 'fix', '--state', 'state.json', '--name', 'start'])
  s.run(['save', '--session', 'fix', '--state', 'state.json', '--no-files', '--name', 'later'])
  s.write({ 'a.txt': 'two\n' })
  const back = ['rewind', 'start', '--both', '--keep-mine']
  const kept = 'Stays as it is (1):\n  a.txt  (changed by you)\n'
  expect(
    s.run([...back, '--dry-run']).stdout.replace(/\b[bcdfghjklmnpqrstvwxz]{4,}\b/g, '<id>'),
  ).toBe(
    'The state of fix would go back to <id> (step 0); what differs was changed by you.\n' +
      `${kept}A dry run: nothing has been changed.\n`,
  )
  expect(s.run([...back, '-y']).stdout.replace(/\b[bcdfghjklmnpqrstvwxz]{4,}\b/g, '<id>')).toBe(
    'Rewound the state of fix to <id> (step 0); what differs was changed by you. ' +
      `Go back with: savestate rewind <id> --state\n${kept}`,
  )
})

test('a session of the SDK is rewound with its state, and changes of the user stay', async () => {
  await using s = await sdkScratch({ files: { 'a.txt': 'one\n' } })
  const store = await s.open()
  const project = await store.project(s.project)
  const session = await store.session('fix', { agent: 'coder', project })
  const start = await session.save({ state: { n: 1 }, files: true })
  s.write({ 'a.txt': 'coder\n', 'b.txt': 'coder\n' })
  expect(await session.save({ state: { n: 2 }, files: true })).toMatchObject({ author: 'coder' })
  s.write({ 'a.txt': 'user\n' })
  expect(await project.save()).toMatchObject({ author: 'you' })
  const { plan } = await session.rewind(start.id, { restore: 'both', keepMine: true })
  expect(plan).toMatchObject({
    remove: [{ path: 'b.txt' }],
    keep: [{ path: 'a.txt', reason: 'changed by you' }],
  })
  expect(await session.stateAt()).toEqual({ n: 1 })
  expect(readFileSync(join(s.project, 'a.txt'), 'utf8')).toBe('user\n')
})

test('an agent gets one message about the files that rewinds restored since its session began', async () => {
  await using s = await sdkScratch({ files: { 'a.txt': 'one\n', 'b.txt': 'one\n' } })
  const store = await s.open()
  const project = await store.project(s.project)
  await project.save({ name: 'start' })
  const asked = (agent: 'claude' | 'codex' | 'gemini', id: string) =>
    turn(store, { agent, id, cwd: s.project })
  s.write({ 'a.txt': 'two\n' })
  await project.rewind('start')
  // Before the sessions began.
  expect(await asked('claude', 'c')).toBeUndefined()
  expect(await asked('gemini', 'g')).toBeUndefined()
  s.write({ 'a.txt': 'three\n', 'b.txt': 'three\n' })
  await project.rewind('start')
  expect(await asked('claude', 'c')).toMatch(/: a\.txt, b\.txt\.$/)
  expect(await asked('claude', 'c')).toBeUndefined()
  expect(await asked('codex', 'late')).toBeUndefined()
  await project.undo()
  expect(await asked('claude', 'c')).toMatch(/: a\.txt, b\.txt\.$/)
  expect(await asked('codex', 'late')).toMatch(/: a\.txt, b\.txt\.$/)
  // After a rewind and its undo, the files are as this agent knows them.
  expect(await asked('gemini', 'g')).toBeUndefined()
  await project.redo()
  expect(await asked('gemini', 'g')).toMatch(/: a\.txt, b\.txt\.$/)
})

test('the list of files is short for any number of files', () => {
  const many = Array.from({ length: 1000 }, (_, n) => `src/${n}.ts`)
  expect(describeReverted(many)).toMatch(/src\/18\.ts, src\/19\.ts, and 980 more\.$/)
  expect(describeReverted(['x'.repeat(5000), 'b']).length).toBeLessThan(400)
})

/** The message for the model at the start of a turn. */
async function turn(
  store: Store,
  { agent, id, cwd }: { agent: 'claude' | 'codex' | 'gemini'; id: string; cwd: string },
): Promise<string | undefined> {
  const eventName = agent === 'gemini' ? 'BeforeAgent' : 'UserPromptSubmit'
  const payload = { session_id: id, cwd, prompt: 'Go on' }
  const { stdout, exitCode } = await handleHook(store, { agent, eventName, payload })
  expect(exitCode).toBe(0)
  if (stdout === '') return undefined
  const answer = JSON.parse(stdout) as {
    readonly hookSpecificOutput: { readonly additionalContext: string }
  }
  return answer.hookSpecificOutput.additionalContext
}
