// Commands that the user types as a prompt of an agent, with payloads as the real programs send them.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { EACH_WAY } from '../../daemon/daemon-helpers.js'
import { type Scratch, scratch } from '../program.js'

type Answer = { readonly code: number | null; readonly text: string }
type Way = {
  readonly agent: string
  readonly events: readonly [start: string, prompt: string, before: string, after: string]
  readonly common: (s: Scratch) => object
  readonly prompt: (text: string) => object
  readonly call: object
  /** The text that the user sees; undefined if the prompt goes to the model. */
  readonly shown: (answer: Record<string, unknown>) => unknown
}

const shownIf = (decision: string) => (answer: Record<string, unknown>) =>
  answer['decision'] === decision ? answer['reason'] : undefined
const usual = (s: Scratch) => ({ session_id: 'ses-1', cwd: s.project, transcript_path: null })
const SHELL = { tool_name: 'Bash', tool_input: { command: 'make' }, tool_use_id: 'c' }
const OPENCODE_CALL = { tool: 'bash', sessionID: 'ses-1', callID: 'c' }
const WAYS: readonly Way[] = [
  {
    agent: 'claude',
    events: ['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse'],
    common: usual,
    prompt: (prompt) => ({ prompt, prompt_id: 'p', permission_mode: 'default', source: 'user' }),
    call: SHELL,
    shown: shownIf('block'),
  },
  {
    agent: 'codex',
    events: ['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse'],
    common: (s) => ({ ...usual(s), model: 'gpt-5.5', permission_mode: 'default', turn_id: 't' }),
    prompt: (prompt) => ({ prompt }),
    call: SHELL,
    shown: shownIf('block'),
  },
  {
    agent: 'gemini',
    events: ['SessionStart', 'BeforeAgent', 'BeforeTool', 'AfterTool'],
    common: (s) => ({ ...usual(s), timestamp: '2026-11-15T19:24:06.282Z' }),
    prompt: (prompt) => ({ prompt }),
    call: { tool_name: 'run_shell_command', tool_input: { command: 'make' } },
    shown: shownIf('deny'),
  },
  {
    agent: 'opencode',
    events: ['session.created', 'chat.message', 'tool.execute.before', 'tool.execute.after'],
    common: (s) => ({ sessionID: 'ses-1', directory: s.project, input: { sessionID: 'ses-1' } }),
    prompt: (text) => ({
      output: { message: { id: 'msg_1', role: 'user' }, parts: [{ type: 'text', text }] },
    }),
    call: { input: { ...OPENCODE_CALL, args: { command: 'make' } }, output: { args: {} } },
    shown: (answer) => answer['done'],
  },
]

/** An agent that has changed a.txt in its first turn. */
function session(s: Scratch, way: Way) {
  const send = (event: string, fields: object): string => {
    const payload = { ...way.common(s), hook_event_name: event, ...fields }
    const ended = s.run(['hook', way.agent, event], { input: JSON.stringify(payload) })
    expect({ code: ended.code, stderr: ended.stderr }).toEqual({ code: 0, stderr: '' })
    return ended.stdout
  }
  const [start, prompt, before, after] = way.events
  const type = (text: string): Answer['text'] | undefined => {
    const stdout = send(prompt, way.prompt(text))
    return way.shown(stdout === '' ? {} : JSON.parse(stdout)) as string | undefined
  }
  send(start, { source: 'startup' })
  expect(type('Do it')).toBeUndefined()
  send(before, way.call)
  s.write({ 'a.txt': 'by the agent\n' })
  send(after, way.call)
  return { type, say: (text: string) => send(prompt, way.prompt(text)) }
}

const reasons = (s: Scratch) =>
  (s.json(['list']) as { checkpoints: readonly { reason: string }[] }).checkpoints.map(
    ({ reason }) => reason,
  )
const textOf = (s: Scratch, name = 'a.txt') => readFileSync(join(s.project, name), 'utf8')

describe.each(EACH_WAY)('$way:', ({ open }) => {
  test.each(WAYS)('$agent carries out a command, which makes no turn', (way) => {
    using s = open({ 'a.txt': 'old\n' })
    const { type, say } = session(s, way)
    const rows = reasons(s)
    expect(type('savestate back 2')).toMatch(/^Rewound to .*Undo with: savestate undo$/s)
    expect(textOf(s)).toBe('old\n')
    expect(type('savestate undo')).toMatch(/^Undid the rewind .*Redo with: savestate redo$/s)
    expect(textOf(s)).toBe('by the agent\n')
    expect(type('savestate redo')).toMatch(/^Repeated the rewind /)
    expect(textOf(s)).toBe('old\n')
    expect(type('savestate status')).toMatch(/^Store: .*Checkpoints: /s)
    expect(type('savestate list')).toContain('You: Do it')
    expect(reasons(s)).toEqual([
      expect.stringMatching(/^redo of rewind/),
      expect.stringMatching(/^undo of rewind/),
      expect.stringMatching(/^rewind to/),
      ...rows,
    ])
    const next = say('Go on')
    expect(next).toContain('Read them again before you rely on them: a.txt.')
    expect(say('And on')).toBe('')
  })

  test('what the user has changed since is overwritten only with --yes', () => {
    using s = open({ 'a.txt': 'old\n', 'b.txt': 'old\n' })
    const { type } = session(s, WAYS[0] as Way)
    s.write({ 'b.txt': 'mine\n' })
    expect(type('savestate rewind 2')).toBe(
      [
        'Will be written (2 files):',
        '  ~ a.txt  (content differs)',
        '  ~ b.txt  (content differs)',
        'You have changed files since then: b.txt. To overwrite them, type: savestate rewind 2 --yes',
        'Nothing has been changed.',
      ].join('\n'),
    )
    expect([textOf(s), textOf(s, 'b.txt')]).toEqual(['by the agent\n', 'mine\n'])
    expect(type('savestate rewind 2 --dry-run')).toContain('A dry run: nothing has been changed.')
    expect(type('savestate rewind 2 --yes')).toMatch(/^Rewound to /)
    expect([textOf(s), textOf(s, 'b.txt')]).toEqual(['old\n', 'old\n'])
    s.write({ 'b.txt': 'mine again\n' })
    expect(type('savestate undo')).toContain('type: savestate undo --yes')
    expect(textOf(s, 'b.txt')).toBe('mine again\n')
  })

  test('a command that fails answers with the error, and other prompts go to the model', () => {
    using s = open({ 'a.txt': 'old\n' })
    const { type } = session(s, WAYS[0] as Way)
    expect(type('savestate undo')).toBe(
      'Error: There is no rewind to undo.\n`savestate rewind <ref>` goes back to a checkpoint; undo reverts that.',
    )
    expect(type('savestate rewind nowhere')).toMatch(/^Error: .*nowhere/)
    for (const prompt of ['savestate undo it all', 'savestate drop 1', 'savestate list --before'])
      expect(type(prompt)).toBeUndefined()
  })

  test('the setting promptCommands switches it off', () => {
    using s = open({ 'a.txt': 'old\n' })
    const { type } = session(s, WAYS[0] as Way)
    s.run(['config', 'set', 'promptCommands', 'false'])
    expect(type('savestate back 2')).toBeUndefined()
    expect(textOf(s)).toBe('by the agent\n')
    expect(reasons(s)[0]).toBe('You: savestate back 2')
  })
})

const SCRIPTS = [
  ['claude', { CLAUDECODE: '1' }, false],
  ['claude', { CLAUDECODE: '1', AI_AGENT: 'x', CLAUDE_PROJECT_DIR: '/work' }, true],
  ['claude', { CODEX_THREAD_ID: 'x', CLAUDE_PROJECT_DIR: '/work' }, false],
  ['codex', { CODEX_THREAD_ID: 'x' }, false],
  ['codex', { CLAUDECODE: '1', CLAUDE_PROJECT_DIR: '/work' }, false],
  ['gemini', { GEMINI_CLI: '1' }, false],
  ['opencode', { OPENCODE: '1' }, false],
] as const

test.each(SCRIPTS)('%s with %j in its environment', (agent, env, isCommand) => {
  const way = WAYS.find((one) => one.agent === agent) as Way
  const [, event] = way.events
  using s = scratch({ 'a.txt': 'one\n' })
  s.run(['save'])
  const payload = { ...way.common(s), ...way.prompt('savestate list') }
  const { stdout } = s.run(['hook', agent, event], { input: JSON.stringify(payload), env })
  expect(stdout !== '').toBe(isCommand)
})
