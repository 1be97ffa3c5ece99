// Which prompts are commands of ours, and who may write them.
import { expect, test } from 'vitest'
import type { AgentEvent } from '../../../src/agents/mappers/event.js'
import { findObjection } from '../../../src/agents/guard/guard.js'
import { commandOf, parsePromptCommand } from '../../../src/agents/hooks/prompt-command.js'
import { MAPPERS } from '../../../src/agents/mappers/mappers.js'

test.each([
  ['savestate undo', ['undo']],
  ['  savestate  undo --dry-run \n', ['undo', '--dry-run']],
  ['savestate undo 3', ['undo', '3']],
  ['savestate undo 5..3', ['undo', '5..3']],
  ['savestate undo bcdfghjk --yes', ['undo', 'bcdfghjk', '--yes']],
  ['savestate redo -y', ['redo', '-y']],
  ['savestate rewind 2', ['rewind', '2']],
  ['savestate back 2 --before', ['back', '2', '--before']],
  ['savestate restore works --both', ['restore', 'works', '--both']],
  ['savestate rewind 2 --conversation', ['rewind', '2', '--conversation']],
  ['savestate list -n 5', ['list', '-n', '5']],
  ['savestate ls -n5', ['ls', '-n5']],
  ['savestate status --limit=3', ['status', '--limit=3']],
])('%j is a command', (prompt, words) => {
  expect(parsePromptCommand(prompt)).toEqual(words)
})

test.each([
  'savestate',
  'savestate rewind',
  'savestate rewind 2 3',
  'savestate undo that',
  'savestate undo the last change',
  'savestate list files',
  'savestate status please',
  'savestate rewind 2 --path src',
  'savestate rewind 2 --keep-mine',
  'savestate rewind 2 -C /etc',
  'savestate -C /etc undo',
  'savestate undo --json',
  'savestate undo; rm -rf .',
  'savestate rewind $(date)',
  "savestate rewind '2'",
  'savestate save',
  'savestate drop 2',
  'savestate clear',
  'savestate prune',
  'savestate constructor',
  'Savestate undo',
  '`savestate undo`',
  '/savestate undo',
  'savestate undo\nand then fix the tests',
  'Please run savestate undo',
  `savestate rewind ${'x'.repeat(200)}`,
])('%j is for the model', (prompt) => {
  expect(parsePromptCommand(prompt)).toBeUndefined()
})

const COMMON = { session_id: 's', cwd: '/work', prompt: 'savestate undo' }
const OPENCODE = {
  sessionID: 's',
  directory: '/work',
  input: { sessionID: 's' },
  output: { message: { id: 'm' }, parts: [{ type: 'text', text: 'savestate undo' }] },
}
const event = (...[agent, name, payload]: Parameters<typeof parse>) => parse(agent, name, payload)
function parse(agent: keyof typeof MAPPERS, name: string, payload: object): AgentEvent {
  const found = MAPPERS[agent].parse(name, payload)
  if (found === undefined) throw new Error(`${agent} has no event ${name}`)
  return found
}

test.each([
  ['the user, in Claude Code', event('claude', 'UserPromptSubmit', COMMON), true],
  [
    'the user, as it says',
    event('claude', 'UserPromptSubmit', { ...COMMON, source: 'user' }),
    true,
  ],
  ['claude -p', event('claude', 'UserPromptSubmit', { ...COMMON, source: 'sdk' }), true],
  ['a timer', event('claude', 'UserPromptSubmit', { ...COMMON, source: 'schedule_wakeup' }), false],
  ['a loop', event('claude', 'UserPromptSubmit', { ...COMMON, source: 'loop_wakeup' }), false],
  ['a channel', event('claude', 'UserPromptSubmit', { ...COMMON, source: 'system' }), false],
  ['a host', event('claude', 'UserPromptSubmit', { ...COMMON, source: 'poll_event' }), false],
  ['the user, in Codex', event('codex', 'UserPromptSubmit', { ...COMMON, turn_id: 't' }), true],
  ['a team', event('codex', 'UserPromptSubmit', { ...COMMON, agent_id: 'a' }), false],
  ['the user, in Gemini CLI', event('gemini', 'BeforeAgent', COMMON), true],
  ['the user, in opencode', event('opencode', 'chat.message', OPENCODE), true],
  ['a task', event('opencode', 'chat.message', { ...OPENCODE, parentID: 'p' }), false],
  [
    'an agent without such an answer',
    event('hermes', 'pre_llm_call', { ...COMMON, hook_event_name: 'pre_llm_call' }),
    false,
  ],
])('from %s', (_, from, isCommand) => {
  expect(commandOf(from)).toEqual(isCommand ? ['undo'] : undefined)
})

const PLACES = { cwd: '/work/app', home: '/home/me', storeHome: '/home/me/.savestate' }

test.each([
  ['a prompt at a set time', 'CronCreate', { cron: '* * * * *', prompt: 'savestate undo' }, 'undo'],
  ['a message to another agent', 'SendMessage', { to: 'a', text: 'savestate back 2' }, 'back'],
  ['its command line', 'Bash', { command: 'savestate undo' }, 'undo'],
  ['a forged event', 'Bash', { command: 'savestate hook claude UserPromptSubmit < f' }, 'hook'],
  ['another agent', 'Bash', { command: 'claude -p "savestate undo"' }, 'undo'],
  ['a piped prompt', 'Bash', { command: "echo 'savestate undo' | codex exec -" }, 'undo'],
])('the guard refuses to an agent %s', (_, name, input, what) => {
  const objection = findObjection({ name, input, callId: 'c', effect: 'anything' }, PLACES)
  expect(objection).toMatchObject({ type: 'needs-user', what })
})

test.each([
  ['a text about it', 'SendMessage', { text: 'The user can type savestate undo' }],
  ['a prompt that only reads', 'CronCreate', { prompt: 'savestate status' }],
  ['a preview', 'CronCreate', { prompt: 'savestate undo --dry-run' }],
])('the guard lets an agent send %s', (_, name, input) => {
  const tool = { name, input, callId: 'c', effect: 'anything' } as const
  expect(findObjection(tool, PLACES)).toBeUndefined()
})

test('the guard lets an agent write a file that consists of a command', () => {
  const input = { file_path: 'a.md', content: 'savestate undo' }
  const tool = { name: 'Write', input, callId: 'c', effect: 'writes' } as const
  expect(findObjection(tool, PLACES)).toBeUndefined()
})
