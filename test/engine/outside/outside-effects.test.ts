// The plan of a rewind names the commands since the target that probably changed something outside the folder.
import { describe, expect, test } from 'vitest'
import { claudeHook, claudePrompt, claudeShell, rowOf, rowsOf } from '../../support/agent-story.js'
import { type Scratch, scratch } from '../../cli/program.js'
import { EACH_WAY } from '../../daemon/daemon-helpers.js'

/** A call that the test does not carry out. */
function called(s: Scratch, command: string, end = 'PostToolUse'): void {
  const call = { tool_name: 'Bash', tool_input: { command }, tool_use_id: `id ${command}` }
  claudeHook(s, 'PreToolUse', call)
  if (end !== '') claudeHook(s, end, call)
}

type Planned = { readonly outside: readonly Readonly<Record<string, unknown>>[] }
const planned = (s: Scratch, ref: string, ...args: readonly string[]) =>
  (s.json(['rewind', ref, '--dry-run', ...args]) as Planned).outside
const commandsOf = (found: Planned['outside']) => found.map(({ command }) => command)

describe.each(EACH_WAY)('$way:', ({ open }) => {
  test('a push without a change of files gets a checkpoint, and each later plan lists it with time and prompt', () => {
    using s = open({ 'a.txt': 'one\n' })
    claudePrompt(s, 'Ship it')
    called(s, 'git pull')
    called(s, 'git push https://me:abcdefgh1234@a.b/c main && npm test')
    claudeShell(s, 'echo two > a.txt')
    claudePrompt(s, 'And publish')
    called(s, 'npm publish', 'PostToolUseFailure')
    claudeHook(s, 'Stop')
    const pushed = rowOf(s, 'Bash: git push https://me:abcdefgh1234@a.b/c main && npm test')
    const published = rowOf(s, 'Bash: npm publish')
    const found = planned(s, rowOf(s, 'You: Ship it').id)
    expect(found).toEqual([
      {
        checkpoint: published.id,
        command: 'npm publish',
        kind: 'publish',
        prompt: 'And publish',
        at: expect.stringMatching(/^20.*Z$/),
      },
      {
        checkpoint: pushed.id,
        command: 'git push https://me:••••••@a.b/c main',
        kind: 'push',
        prompt: 'Ship it',
        at: expect.stringMatching(/^20.*Z$/),
      },
    ])
    expect(commandsOf(planned(s, pushed.id))).toEqual(['npm publish'])
    expect(planned(s, published.id)).toEqual([])
    const { stdout } = s.run(['rewind', pushed.id, '--yes'])
    expect(
      stdout
        .replaceAll(/\([^(,]*(?:now|ago), /g, '(<when>, ')
        .split('\n')
        .slice(1),
    ).toEqual([
      'Not taken back, because it is outside the folder (1):',
      '  npm publish  (<when>, "And publish")',
      '',
    ])
    expect(s.json(['undo', '--dry-run'])).not.toHaveProperty('outside')
  })
})

test('a call without an end is listed once, when it is known to be over', () => {
  using s = scratch({ 'a.txt': 'one\n' })
  claudePrompt(s, 'Ship it')
  const { id } = rowOf(s, 'You: Ship it')
  called(s, 'git push', '')
  expect(planned(s, id)).toEqual([])
  claudePrompt(s, 'Again')
  expect(commandsOf(planned(s, id))).toEqual(['git push'])
  expect(rowOf(s, 'Bash: git push (no end seen)').id).toBe(planned(s, id)[0]?.['checkpoint'])
  claudeShell(s, 'echo two > a.txt')
  claudeHook(s, 'Stop')
  claudeHook(s, 'SessionEnd')
  expect(commandsOf(planned(s, id))).toEqual(['git push'])
})

test('the end of a session lists a call without an end', () => {
  using s = scratch({ 'a.txt': 'one\n' })
  claudePrompt(s, 'Ship it')
  called(s, 'git push', '')
  claudeHook(s, 'SessionEnd')
  claudeHook(s, 'SessionStart', { source: 'resume' })
  expect(commandsOf(planned(s, rowOf(s, 'You: Ship it').id))).toEqual(['git push'])
})

test('MCP tools that write are listed, others are not', () => {
  using s = scratch({ 'a.txt': 'one\n' })
  claudePrompt(s, 'Report it')
  for (const name of ['mcp__tracker__get_issue', 'mcp__tracker__create_issue']) {
    const call = { tool_name: name, tool_input: { title: 'x' }, tool_use_id: name }
    claudeHook(s, 'PreToolUse', call)
    claudeHook(s, 'PostToolUse', call)
  }
  expect(rowsOf(s).map(({ reason }) => reason)).toEqual([
    'mcp__tracker__create_issue',
    'You: Report it',
  ])
  expect(planned(s, '2')).toMatchObject([
    { kind: 'mcp', command: 'mcp__tracker__create_issue {"title":"x"}' },
  ])
})

test('in an encrypted store the commands need the key, and are nowhere in plain text', () => {
  using s = scratch({ 'a.txt': 'one\n' })
  const env = { SAVESTATE_KEY: 'ab'.repeat(32) }
  const call = {
    tool_name: 'Bash',
    tool_input: { command: 'git push unspeakable' },
    tool_use_id: '1',
  }
  claudeHook(s, 'UserPromptSubmit', { prompt: 'Ship it' }, { env })
  claudeHook(s, 'PreToolUse', call, { env })
  claudeHook(s, 'PostToolUse', call, { env })
  const plan = ['rewind', rowOf(s, 'You: a prompt').id, '--dry-run', '--json']
  expect(JSON.parse(s.run(plan, { env }).stdout)).toMatchObject({
    outside: [{ command: 'git push unspeakable', prompt: null }],
  })
  expect(JSON.parse(s.run(plan).stdout)).toMatchObject({ outside: [] })
  expect(s.shell(`grep -rl unspeakable "$SAVESTATE_HOME"`).stdout).toBe('')
})
