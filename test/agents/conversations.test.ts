// Rewinds with the conversation: the real program, with handwritten transcripts. e2e/cases/resume.ts checks that the agents
// themselves accept the result.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { type Scratch, scratch } from '../cli/program.js'
import { onTerminal } from '../cli/terminal.js'

type Fields = Readonly<Record<string, unknown>>
type Rewound = {
  readonly restored: string
  readonly applied: boolean
  readonly conversation: Fields & { readonly command: readonly string[]; readonly file: string }
}

const THREAD = '01a1e321-f1c6-7702-8185-9a72afbfd586'
const asked = (id: string, text: string) => ({
  type: 'user',
  promptId: id,
  message: { content: text },
})
const said = (text: string) => ({
  type: 'assistant',
  message: { content: [{ type: 'text', text }] },
})
const textOf = (entries: readonly unknown[]) =>
  entries.map((entry) => `${JSON.stringify(entry)}\n`).join('')

function hook(s: Scratch, [agent, eventName]: readonly [string, string], fields: Fields) {
  const input = JSON.stringify({ session_id: THREAD, cwd: s.project, ...fields })
  const { stderr } = s.run(['hook', agent, eventName], { input })
  expect(stderr).toBe('')
}

function write(path: string, entries: readonly unknown[]): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, textOf(entries))
}

const CLAUDE = [asked('p-1', 'First'), said('One.'), asked('p-2', 'Second'), said('Two.')]

/** Two turns; in the second the agent changes a file. */
function claudeStory(s: Scratch): string {
  const path = join(s.folder, 'user', 'transcript.jsonl')
  const prompt = ['claude', 'UserPromptSubmit'] as const
  hook(s, prompt, { prompt: 'First', prompt_id: 'p-1', transcript_path: path })
  write(path, CLAUDE.slice(0, 2))
  hook(s, prompt, { prompt: 'Second', prompt_id: 'p-2', transcript_path: path })
  s.write({ 'a.txt': 'changed' })
  write(path, CLAUDE)
  hook(s, ['claude', 'Stop'], { prompt_id: 'p-2', transcript_path: path })
  return path
}

test('Claude Code: files and conversation are rewound, and its transcript stays unchanged', () => {
  using s = scratch({ 'a.txt': 'as it was' })
  const path = claudeStory(s)
  const dry = s.run(['rewind', '2', '--both', '--dry-run'])
  expect(dry.stdout).toContain('The conversation would go back: before you asked "Second".')
  const { conversation, ...result } = s.json(['rewind', '2', '--both', '--yes']) as Rewound
  expect(result).toMatchObject({ restored: 'both', applied: true })
  const file = join(s.home, 'conversations', readdirSync(join(s.home, 'conversations'))[0] ?? '')
  expect(conversation).toEqual({
    agent: 'claude',
    way: 'resume',
    kind: 'before-turn',
    prompt: 'Second',
    tool: null,
    command: ['claude', '--resume', file, '--fork-session'],
    file,
    lines: 2,
    problem: null,
  })
  expect(readFileSync(file, 'utf8')).toBe(textOf(CLAUDE.slice(0, 2)))
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(readFileSync(path, 'utf8')).toBe(textOf(CLAUDE))
  expect(readFileSync(join(s.project, 'a.txt'), 'utf8')).toBe('as it was')
  expect(s.run(['verify']).code).toBe(0)
  const undone = s.run(['undo', '--yes'])
  expect(undone.code).toBe(0)
  expect(undone.stdout).toContain(
    `Continue the original conversation:\n  claude --resume ${THREAD}\n`,
  )
  expect(readFileSync(join(s.project, 'a.txt'), 'utf8')).toBe('changed')
})

test('--continue runs the agent and returns its exit code', () => {
  using s = scratch({ 'a.txt': 'as it was' })
  claudeStory(s)
  const program = join(s.folder, 'bin', 'claude')
  writeFileSync(program, '#!/bin/sh\necho "agent: $1 $3 in $(pwd)"; cat "$2" | wc -l; exit 7\n')
  chmodSync(program, 0o755)
  const ended = s.run(['rewind', '2', '--both', '--continue', '--yes'])
  expect(ended.code).toBe(7)
  expect(ended.stdout).toContain('The conversation continues as it was before you asked "Second".')
  expect(ended.stdout).toContain(`agent: --resume --fork-session in ${s.project}\n2\n`)
  expect(s.run(['rewind', '2', '--continue', '--yes'])).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(
      /^Error: --continue needs --both or --conversation too\.\nUsage: /,
    ),
  })
  expect(s.run(['rewind', '2', '--both', '--continue', '--json', '--yes'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(
      '--continue runs the agent on your terminal, so it cannot be combined with --json',
    ),
  })
})

test('before the first prompt a new conversation is started', () => {
  using s = scratch({ 'a.txt': 'as it was' })
  claudeStory(s)
  const { stdout } = s.run(['rewind', '3', '--both', '--yes'])
  expect(stdout).toContain('Nothing was said before that. Start a new conversation: claude\n')
})

test('Codex: a copy with a new id is written beside the original', () => {
  using s = scratch({ 'a.txt': 'as it was' })
  const folder = join(s.folder, 'user/.codex/sessions/2026/11/16')
  const path = join(folder, `rollout-2026-11-16T06-53-35-${THREAD}.jsonl`)
  const message = (content: string) => ({
    type: 'response_item',
    payload: { type: 'message', role: 'user', content },
  })
  const turn = (id: string, text: string) => [
    { type: 'event_msg', payload: { type: 'task_started', turn_id: id, thread_id: THREAD } },
    message(text),
  ]
  const meta = { type: 'session_meta', payload: { id: THREAD } }
  const about = `the thread "${THREAD}"`
  const all = [meta, ...turn('t-1', about), ...turn('t-2', 'Second')]
  write(path, [meta])
  const prompt = ['codex', 'UserPromptSubmit'] as const
  hook(s, prompt, { prompt: about, turn_id: 't-1', transcript_path: path })
  write(path, all)
  hook(s, prompt, { prompt: 'Second', turn_id: 't-2', transcript_path: path })
  const { conversation } = s.json(['rewind', '1', '--both', '--yes']) as Rewound
  const id = conversation.command[2] ?? ''
  expect(conversation.command).toEqual(['codex', 'resume', id])
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  expect(conversation.file).toBe(join(folder, `rollout-2026-11-16T06-53-35-${id}.jsonl`))
  // The id is replaced where it is a value, not where text mentions it.
  const [task] = turn('t-1', about)
  const copied = [
    { ...meta, payload: { id } },
    { ...task, payload: { ...task?.payload, thread_id: id } },
  ]
  expect(readFileSync(conversation.file, 'utf8')).toBe(textOf([...copied, message(about)]))
  expect(readFileSync(path, 'utf8')).toBe(textOf(all))
})

test('no copy is written outside the session folders of Codex', () => {
  using s = scratch({ 'a.txt': 'as it was' })
  const path = join(s.folder, 'user', 'elsewhere.jsonl')
  write(path, [{ type: 'response_item', payload: { role: 'user' } }])
  hook(s, ['codex', 'UserPromptSubmit'], { prompt: 'x', turn_id: 't', transcript_path: path })
  const before = readdirSync(dirname(path))
  const { conversation } = s.json(['rewind', '1', '--both', '--yes']) as Rewound
  expect(conversation).toMatchObject({ way: 'none', command: null, file: null })
  expect(readdirSync(dirname(path))).toEqual(before)
})

test('the copy for Codex is below its own folder, whatever path the hook reported', () => {
  using s = scratch({ 'a.txt': 'as it was' })
  const elsewhere = join(s.folder, 'elsewhere/sessions/2026/11/16')
  const path = join(elsewhere, `rollout-2026-11-16T06-53-35-${THREAD}.jsonl`)
  const turn = (id: string) => [
    { type: 'event_msg', payload: { type: 'task_started', turn_id: id, thread_id: THREAD } },
    { type: 'response_item', payload: { type: 'message', role: 'user', content: id } },
  ]
  const prompt = ['codex', 'UserPromptSubmit'] as const
  write(path, [{ type: 'session_meta', payload: { id: THREAD } }, ...turn('t-1'), ...turn('t-2')])
  hook(s, prompt, { prompt: 'First', turn_id: 't-1', transcript_path: path })
  hook(s, prompt, { prompt: 'Second', turn_id: 't-2', transcript_path: path })
  const newest = rowsIn(s)[0]?.id ?? ''
  const codexHome = join(s.folder, 'codex')
  for (const [env, root] of [
    [{}, join(s.folder, 'user/.codex')],
    [{ CODEX_HOME: codexHome }, codexHome],
  ] as const) {
    const { stdout } = s.run(['rewind', newest, '--both', '--yes', '--json'], { env })
    const { conversation } = JSON.parse(stdout) as Rewound
    expect(dirname(conversation.file)).toBe(join(root, 'sessions/2026/11/16'))
    expect(existsSync(conversation.file)).toBe(true)
  }
  expect(readdirSync(elsewhere)).toHaveLength(1)
})

const rowsIn = (s: Scratch) =>
  (s.json(['list']) as { readonly checkpoints: readonly { readonly id: string }[] }).checkpoints

test.each(['--conversation', '--state'])(
  'rewind %s writes the copy and prints the command; no file changes and no row is added',
  (option) => {
    using s = scratch({ 'a.txt': 'as it was' })
    claudeStory(s)
    const rows = rowsIn(s)
    const folder = join(s.home, 'conversations')
    expect(s.run(['rewind', '2', option, '--dry-run'])).toEqual({
      code: 0,
      stdout:
        'The conversation would go back: before you asked "Second".\nA dry run: nothing has been changed.\n',
      stderr: '',
    })
    const { stdout, stderr } = s.run(['rewind', '2', option])
    const [name = ''] = readdirSync(folder)
    expect([stdout, stderr]).toEqual([
      'Continue the conversation as it was before you asked "Second":\n' +
        `  claude --resume ${join(folder, name)} --fork-session\nNo file has been changed.\n`,
      '',
    ])
    expect(readFileSync(join(folder, name), 'utf8')).toBe(textOf(CLAUDE.slice(0, 2)))
    expect(s.json(['rewind', '2', option])).toMatchObject({
      restored: 'conversation',
      applied: true,
      plan: { write: [], remove: [] },
      conversation: { way: 'resume', agent: 'claude' },
    })
    expect([readFileSync(join(s.project, 'a.txt'), 'utf8'), rowsIn(s)]).toEqual(['changed', rows])
  },
)

test('a fork of an agent session prints how to rewind its conversation', () => {
  using s = scratch({ 'a.txt': 'as it was' })
  claudeStory(s)
  const [, row] = rowsIn(s)
  expect(s.run(['fork', '2']).stdout).toContain(
    `claude cannot continue a fork by itself. To go back in its conversation:\n  savestate rewind ${row?.id} --conversation\n`,
  )
})

test('rewind --conversation --continue runs the agent', () => {
  using s = scratch({ 'a.txt': 'as it was' })
  claudeStory(s)
  const program = join(s.folder, 'bin', 'claude')
  writeFileSync(program, '#!/bin/sh\necho "agent: $1 $3"; exit 3\n')
  chmodSync(program, 0o755)
  const ended = s.run(['rewind', '2', '--conversation', '--continue'])
  expect([ended.code, ended.stdout]).toEqual([
    3,
    expect.stringContaining('agent: --resume --fork-session\n'),
  ])
})

test('--before cuts the conversation before the call', () => {
  using s = scratch({ 'a.txt': 'as it was' })
  const path = join(s.folder, 'user', 'transcript.jsonl')
  const use = (id: string) => ({
    type: 'assistant',
    message: { id: `m-${id}`, content: [{ type: 'tool_use', id }] },
  })
  const result = (id: string) => ({
    type: 'user',
    message: { content: [{ type: 'tool_result', tool_use_id: id }] },
  })
  const all = [asked('p-1', 'First'), said('Yes.'), use('t-1'), result('t-1'), said('Done.')]
  const call = { tool_name: 'Bash', tool_input: { command: 'rm a.txt' }, tool_use_id: 't-1' }
  const at = { prompt_id: 'p-1', transcript_path: path }
  hook(s, ['claude', 'UserPromptSubmit'], { prompt: 'First', ...at })
  hook(s, ['claude', 'PreToolUse'], { ...call, ...at })
  rmSync(join(s.project, 'a.txt'))
  write(path, all)
  hook(s, ['claude', 'PostToolUse'], { ...call, ...at })
  const { conversation } = s.json(['rewind', '1', '--both', '--before', '--yes']) as Rewound
  expect(conversation).toMatchObject({ kind: 'before-call', tool: 'Bash: rm a.txt' })
  expect(readFileSync(conversation.file, 'utf8')).toBe(textOf(all.slice(0, 2)))
  expect(readFileSync(join(s.project, 'a.txt'), 'utf8')).toBe('as it was')
})

test('--conversation fails for an agent that cannot continue, with a hint', () => {
  using s = scratch({ 'a.txt': 'as it was' })
  hook(s, ['hermes', 'pre_llm_call'], {})
  s.write({ 'a.txt': 'changed' })
  s.run(['save', '-m', 'by hand'])
  const [, row] = rowsIn(s)
  for (const option of ['--conversation', '--state']) {
    const { code, stdout, stderr } = s.run(['rewind', '2', option])
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toBe(
      `Error: The conversation cannot go back to ${row?.id}: hermes has no command that continues from an earlier point.\n` +
        `Nothing was changed. Bring back the files: savestate rewind ${row?.id}\n` +
        `For a new conversation, print a brief: savestate resume ${THREAD}\n`,
    )
  }
  expect(s.run(['rewind', '1', '--conversation'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('belongs to no session'),
  })
})

test('if the conversation cannot be rewound, --both says so before it asks', async () => {
  using s = scratch({ 'a.txt': 'as it was' })
  hook(s, ['hermes', 'pre_llm_call'], {})
  s.write({ 'a.txt': 'changed' })
  const terminal = onTerminal(s, 'savestate rewind 1 --both')
  await terminal.shows('? [y/N]')
  expect(terminal.output()).toContain('Only the files go back. The conversation stays as it is')
  terminal.type('n\n')
  expect(await terminal.ended).toBe(1)
  expect(s.json(['rewind', '1', '--both', '--yes'])).toMatchObject({
    restored: 'files',
    conversation: { way: 'none' },
  })
})

test('if the conversation cannot be rewound, the files are, and the output says so', () => {
  using s = scratch({ 'a.txt': 'as it was' })
  hook(s, ['hermes', 'pre_llm_call'], {})
  s.write({ 'a.txt': 'changed' })
  const { stdout, stderr } = s.run(['rewind', '1', '--both', '--yes'])
  expect(stderr).toBe('')
  expect(stdout).toContain('The conversation stays as it is: hermes has no command')
  expect(readFileSync(join(s.project, 'a.txt'), 'utf8')).toBe('as it was')
})

test('without a copy of the conversation, the error does not claim that it was empty', () => {
  using s = scratch({ 'a.txt': 'as it was' })
  const path = claudeStory(s)
  const later = { prompt: 'Third', prompt_id: 'p-3', session_id: 'other' }
  hook(s, ['claude', 'UserPromptSubmit'], { ...later, transcript_path: join(s.folder, 'gone') })
  s.write({ 'a.txt': 'once more' })
  hook(s, ['claude', 'Stop'], { ...later, transcript_path: join(s.folder, 'gone') })
  const [end, prompt] = rowsIn(s)
  expect(s.run(['rewind', end?.id ?? '', '--conversation'])).toEqual({
    code: 2,
    stdout: '',
    stderr:
      `Error: The conversation cannot go back to ${end?.id}: no copy of it was saved, and the transcript of the agent does not contain it.\n` +
      `Nothing was changed. Bring back the files: savestate rewind ${end?.id}\n` +
      'For a new conversation, print a brief: savestate resume other\n',
  })
  // Nothing precedes the first prompt.
  expect(s.run(['rewind', prompt?.id ?? '', '--conversation']).stdout).toContain(
    'Nothing was said before that. Start a new conversation: claude\n',
  )
  // The copy in the store is enough.
  rmSync(path)
  expect(s.json(['rewind', '4', '--conversation'])).toMatchObject({ conversation: { lines: 2 } })
})

test('without the key of an encrypted store, the conversation is not rewound and KEY_MISSING is reported', () => {
  using s = scratch({ 'a.txt': 'as it was' })
  const env = { SAVESTATE_KEY: Buffer.alloc(32, 7).toString('base64') }
  const input = JSON.stringify({ session_id: THREAD, cwd: s.project, prompt: 'x', prompt_id: 'p' })
  expect(s.run(['hook', 'claude', 'UserPromptSubmit'], { input, env }).stderr).toBe('')
  s.write({ 'a.txt': 'changed' })
  const rows = rowsIn(s)
  for (const options of [['--conversation'], ['--state'], ['--both', '--yes']]) {
    expect(s.run(['rewind', '1', ...options])).toEqual({
      code: 2,
      stdout: '',
      stderr:
        `Error: The conversation of ${rows[0]?.id} is encrypted.\n` +
        'Set SAVESTATE_KEY or SAVESTATE_KEY_FILE to its key. Nothing was changed.\n',
    })
  }
  expect([readFileSync(join(s.project, 'a.txt'), 'utf8'), rowsIn(s)]).toEqual(['changed', rows])
})

test('if --both cannot write the conversation, the hint names the id, because numbers have shifted', () => {
  using s = scratch({ 'a.txt': 'as it was' })
  claudeStory(s)
  const [, row] = rowsIn(s)
  writeFileSync(join(s.home, 'conversations'), '')
  const { code, stderr } = s.run(['rewind', '2', '--both', '--yes'])
  expect([code, readFileSync(join(s.project, 'a.txt'), 'utf8')]).toEqual([2, 'as it was'])
  expect(stderr).toMatch(/^Error: EEXIST: .*\n/)
  expect(stderr.split('\n').slice(1)).toEqual([
    'The files were restored, but the conversation was not. To undo that: savestate undo',
    `Try the conversation again with: savestate rewind ${row?.id} --conversation`,
    '',
  ])
})
