// A store as real work leaves it, made by the real program: a session of Claude Code whose hooks report prompts and calls, edits by
// the user in between, a rewind and its undo, a session of Codex, and everything hostile that a prompt or a file name can be.
import { execFileSync } from 'node:child_process'
import { appendFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type Scratch, scratch } from '../../cli/program.js'
import { sharedFolder } from './shared-folder.js'
import { type Call, ClaudeTranscript, type TranscriptLine } from './claude-transcript.js'

export const CLAUDE_SESSION = '3f0c6f0e-6a51-4a0e-9f0f-0c9b5a1d2e31'
export const CODEX_SESSION = '01a1e321-f1c6-7702-8185-9a72afbfd586'
export const PROMPTS = {
  login: 'Make login work with single sign-on',
  hostile: '<img src=x onerror=alert(1)> \u202Etxt.exe\u202C <script>alert(2)</script>\u0007',
  tests: 'Add tests for the login',
  codex: 'Clean up the utilities',
} as const
export const HOSTILE_FILES = [
  '<img src=x onerror=alert(1)>.txt',
  'photo-\u202Egnp.js',
  'two\nlines.txt',
  `${'long-name-'.repeat(24)}.txt`,
  '"; rm -rf .txt',
] as const
/** In the conversation; the page must mask it. */
export const SECRET = 'sk-ant-api03-q9Xw3Zr7Kd5Lm1Np8Vt2Bs6Yc4Hf0Jg-AbCdEfGh'
export const NAME = 'before-release'

let made: Scratch | undefined

/** The store, new for each caller. Only one at a time in a process: the store knows its project by the path. */
export function agentStore(): Scratch {
  if (made === undefined) {
    made = makeStore()
    execFileSync('cp', ['-a', made.folder, sharedFolder()])
  } else {
    execFileSync('cp', ['-a', join(sharedFolder(), basename(made.folder)), made.folder])
  }
  return made
}

/** 8 × 8 pixels in one color. */
function png(hex: string): Buffer {
  return Buffer.from(hex, 'base64')
}
const RED = png(
  'iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEUlEQVR42mM4ISeHFTEMLQkAkL9BAc9woTwAAAAASUVORK5CYII=',
)
const BLUE = png(
  'iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEUlEQVR42mOQszmBFTEMLQkAKexIgflpQ4cAAAAASUVORK5CYII=',
)

const LOGIN = `import { readFileSync } from 'node:fs'

export function login(user: string): boolean {
  const users = JSON.parse(readFileSync('users.json', 'utf8'))
  return users.includes(user)
}
`
const LOGIN_WITH_SSO = `import { readFileSync } from 'node:fs'
import { verifyTicket } from './sso.js'

export async function login(user: string, ticket?: string): Promise<boolean> {
  if (ticket !== undefined) return verifyTicket(user, ticket)
  const users = JSON.parse(readFileSync('users.json', 'utf8'))
  return users.includes(user)
}
`
const SSO = `export async function verifyTicket(user: string, ticket: string): Promise<boolean> {
  return ticket === \`ticket-of-\${user}\`
}
`
const UTIL = Array.from({ length: 40 }, (_, n) => `export const value${n} = ${n}\n`).join('')

function makeStore(): Scratch {
  const s = scratch({
    'README.md': '# Shop\n\nA small shop.\n',
    'package.json': '{ "name": "shop", "type": "module" }\n',
    'users.json': '["ada", "grace"]\n',
    'src/login.ts': LOGIN,
    'src/session.ts': 'export const SESSION_MINUTES = 30\n',
    'src/util.ts': UTIL,
    'notes.txt': 'Remember the milk.\n',
    'data.bin': '\0\u0001\u0002binary\0',
    '.env': 'API_KEY=abc\n',
    'recording.raw': 'x'.repeat(11 * 1024 * 1024),
  })
  writeFileSync(join(s.project, 'logo.png'), RED)
  claudeTurns(s)
  codexTurn(s)
  check(s, ['name', '1', NAME])
  const first = rowNamed(s, `You: ${PROMPTS.login}`)
  check(s, ['pin', first])
  check(s, ['rewind', rowNamed(s, `You: ${PROMPTS.tests}`), '--yes'])
  check(s, ['undo', '--yes'])
  return s
}

function claudeTurns(s: Scratch): void {
  const path = join(s.folder, 'user', `${CLAUDE_SESSION}.jsonl`)
  const t = new ClaudeTranscript(CLAUDE_SESSION, s.project, Date.now() - 3_600_000)
  const write = (...lines: readonly TranscriptLine[]) =>
    appendFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  const hook = (event: string, fields: TranscriptLine = {}) =>
    runHook(s, ['claude', event], {
      session_id: CLAUDE_SESSION,
      transcript_path: path,
      cwd: s.project,
      hook_event_name: event,
      ...fields,
    })
  const ask = (promptId: string, prompt: string) => {
    hook('UserPromptSubmit', { prompt, prompt_id: promptId })
    write(t.prompt(promptId, prompt))
  }
  const run = (promptId: string, call: Call, work: () => string, isError = false) => {
    const fields = {
      prompt_id: promptId,
      tool_name: call.tool,
      tool_input: call.input,
      tool_use_id: call.id,
    }
    write(t.call(call))
    hook('PreToolUse', fields)
    const output = work()
    const after = isError
      ? { ...fields, error: output, is_interrupt: false }
      : { ...fields, tool_response: { stdout: output }, duration_ms: 1240 }
    hook(isError ? 'PostToolUseFailure' : 'PostToolUse', after)
    write(t.result(call, output, isError))
  }
  const bash = (id: string, command: string): Call => ({ id, tool: 'Bash', input: { command } })

  /** It writes into the transcript of its parent, and its calls have its id. */
  const subagent = (agentId: string) => {
    const file = join(s.project, 'test/login.test.ts')
    const call: Call = {
      id: 'toolu_sub',
      tool: 'Write',
      input: { file_path: file, content: TESTS },
    }
    const fields = { prompt_id: 'p-3', agent_id: agentId }
    const named = { tool_name: call.tool, tool_input: call.input, tool_use_id: call.id }
    hook('SubagentStart', fields)
    hook('PreToolUse', { ...fields, ...named })
    s.write({ 'test/login.test.ts': TESTS })
    hook('PostToolUse', { ...fields, ...named, tool_response: {} })
    write(
      ...t.bySubagent(agentId, [
        t.prompt('p-3', 'Write tests for src/login.ts'),
        t.call(call),
        t.result(call, `File created at ${file}`),
        t.text('The tests are written.'),
      ]),
    )
    hook('SubagentStop', fields)
  }

  hook('SessionStart', { source: 'startup' })
  ask('p-1', PROMPTS.login)
  write(t.thinking('The login reads users.json.\nI will add a ticket.'), t.text(ANSWER))
  const edit = {
    file_path: join(s.project, 'src/login.ts'),
    old_string: LOGIN,
    new_string: LOGIN_WITH_SSO,
  }
  run('p-1', { id: 'toolu_edit', tool: 'Edit', input: edit }, () => {
    s.write({ 'src/login.ts': LOGIN_WITH_SSO, 'src/sso.ts': SSO })
    return `The file ${edit.file_path} has been updated.`
  })
  run(
    'p-1',
    bash('toolu_test', 'npm test'),
    () => {
      s.write({ 'report.txt': FAILED_TEST })
      return FAILED_TEST
    },
    true,
  )
  run('p-1', bash('toolu_move', 'git mv src/util.ts src/utilities.ts'), () => {
    renameSync(join(s.project, 'src/util.ts'), join(s.project, 'src/utilities.ts'))
    return ''
  })
  write(t.text('Login accepts a ticket now. One test fails.'))
  hook('Stop', { prompt_id: 'p-1' })

  // By hand, between two turns.
  s.write({ 'src/session.ts': 'export const SESSION_MINUTES = 45 // longer\n' })
  ask('p-2', PROMPTS.hostile)
  run('p-2', bash('toolu_rm', 'rm notes.txt'), () => {
    rmSync(join(s.project, 'notes.txt'))
    return `\u001B[31mremoved\u001B[0m notes.txt, the key is ${SECRET}`
  })
  run('p-2', bash('toolu_art', 'make logo'), () => {
    writeFileSync(join(s.project, 'logo.png'), BLUE)
    writeFileSync(join(s.project, 'data.bin'), '\0\u0003other binary\0')
    for (const name of HOSTILE_FILES) s.write({ [name]: `${name}\n` })
    return 'x'.repeat(40_000)
  })
  write(t.text('[a link](https://example.com/x) <b>bold</b> ![image](https://example.com/i.png)'))
  hook('Stop', { prompt_id: 'p-2' })

  ask('p-3', PROMPTS.tests)
  const task: Call = {
    id: 'toolu_task',
    tool: 'Task',
    input: { description: 'write tests', prompt: 'Write tests for src/login.ts' },
  }
  run('p-3', task, () => {
    subagent('sub-1')
    return 'The tests are written.'
  })
  run('p-3', bash('toolu_gen', 'node generate.mjs > src/table.ts'), () => {
    s.write({ 'src/table.ts': TABLE })
    return ''
  })
  write(t.text('Done: twelve tests, all green.'))
  hook('Stop', { prompt_id: 'p-3' })
}

function codexTurn(s: Scratch): void {
  const path = join(s.folder, 'user', `rollout-2026-11-16T06-53-35-${CODEX_SESSION}.jsonl`)
  const meta = { type: 'session_meta', payload: { id: CODEX_SESSION } }
  const content = [{ type: 'input_text', text: PROMPTS.codex }]
  const asked = { type: 'response_item', payload: { type: 'message', role: 'user', content } }
  writeFileSync(path, `${JSON.stringify(meta)}\n${JSON.stringify(asked)}\n`)
  const hook = (event: string, fields: TranscriptLine) =>
    runHook(s, ['codex', event], {
      session_id: CODEX_SESSION,
      turn_id: 't-1',
      transcript_path: path,
      cwd: s.project,
      hook_event_name: event,
      ...fields,
    })
  const call = {
    tool_name: 'Bash',
    tool_input: { command: 'sed -i d src/utilities.ts' },
    tool_use_id: 'call_1',
  }
  hook('UserPromptSubmit', { prompt: PROMPTS.codex })
  hook('PreToolUse', call)
  s.write({ 'src/utilities.ts': UTIL.replace('value7 = 7', 'value7 = 8') })
  hook('PostToolUse', { ...call, tool_response: { output: '' } })
  hook('Stop', {})
}

const ANSWER = `I will look at \`src/login.ts\` first.

1. read the file
2. add the ticket

\`\`\`ts
const answer = await login('ada', 'ticket-of-ada')
\`\`\``
const FAILED_TEST = `Exit code 1\n${Array.from({ length: 30 }, (_, n) => `test ${n}: ok`).join('\n')}\ntest 30: FAILED`
const TESTS = Array.from({ length: 12 }, (_, n) => `test('login ${n}', () => {})\n`).join('')
const TABLE = Array.from(
  { length: 3000 },
  (_, n) => `export const row${n} = [${n}, ${n * n}]\n`,
).join('')

function runHook(s: Scratch, names: readonly string[], payload: TranscriptLine): void {
  const { code, stderr } = s.run(['hook', ...names], { input: JSON.stringify(payload) })
  if (code !== 0 || stderr !== '') throw new Error(`hook ${names.join(' ')} failed: ${stderr}`)
}

function check(s: Scratch, args: readonly string[]): void {
  const { code, stderr } = s.run(args)
  if (code !== 0) throw new Error(`savestate ${args.join(' ')} failed: ${stderr}`)
}

function rowNamed(s: Scratch, reason: string): string {
  const { checkpoints } = s.json(['list']) as {
    readonly checkpoints: readonly { readonly id: string; readonly reason: string }[]
  }
  const found = checkpoints.find((row) => row.reason === reason)
  if (found === undefined)
    throw new Error(`no row "${reason}" in ${checkpoints.map((row) => row.reason).join(', ')}`)
  return found.id
}
