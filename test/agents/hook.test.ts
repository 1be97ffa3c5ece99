// Hooks with the real program: what agents send on stdin, what they get back, and what is in the store afterwards.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { takeLock } from '../../src/system/index.js'
import { PROGRAM, type Scratch, scratch as ownScratch } from '../cli/program.js'
import { EACH_WAY } from '../daemon/daemon-helpers.js'

type Fields = Readonly<Record<string, unknown>>
type Listed = {
  readonly checkpoints: readonly { readonly reason: string; readonly session: string }[]
}

function claude(s: Scratch, eventName: string, fields: Fields = {}, args: readonly string[] = []) {
  const payload = { session_id: 's-1', cwd: s.project, hook_event_name: eventName, ...fields }
  return s.run(['hook', 'claude', eventName, ...args], { input: JSON.stringify(payload) })
}
const shell = (command: string) => ({
  tool_name: 'Bash',
  tool_input: { command },
  tool_use_id: `id ${command}`,
})
const reasons = (s: Scratch) =>
  (s.json(['list']) as Listed).checkpoints.map(({ reason }) => reason).reverse()
const SILENT = { code: 0, stdout: '', stderr: '' }

/** The hook itself and the daemon must give the same answers and the same store. */
describe.each(EACH_WAY)('$way:', ({ open }) => {
  test('the list of a turn reads like the conversation, and each row can be restored', () => {
    using s = open({ 'package.json': '{}' })
    const file = { tool_name: 'Write', tool_input: { file_path: join(s.project, 'a.txt') } }
    expect(claude(s, 'SessionStart', { source: 'startup' })).toEqual(SILENT)
    expect(claude(s, 'UserPromptSubmit', { prompt: 'Fix the login', prompt_id: 'p-1' })).toEqual(
      SILENT,
    )
    expect(claude(s, 'PreToolUse', { ...file, tool_use_id: 'w' })).toEqual(SILENT)
    s.write({ 'a.txt': 'written\n' })
    expect(claude(s, 'PostToolUse', { ...file, tool_use_id: 'w' })).toEqual(SILENT)
    expect(claude(s, 'PreToolUse', shell('rm a.txt'))).toEqual(SILENT)
    execFileSync('rm', [join(s.project, 'a.txt')])
    expect(claude(s, 'PostToolUse', shell('rm a.txt'))).toEqual(SILENT)
    expect(claude(s, 'Stop')).toEqual(SILENT)
    expect(claude(s, 'SessionEnd', { reason: 'other' })).toEqual(SILENT)
    expect(reasons(s)).toEqual(['You: Fix the login', 'Write a.txt', 'Bash: rm a.txt'])
    const { agent } = s.json(['show', '1']) as { readonly agent: Fields }
    expect(agent).toMatchObject({
      turn: 1,
      toolCall: 'id rm a.txt',
      metadata: {
        agent: 'claude',
        event: 'PostToolUse',
        agentSession: 's-1',
        turnId: 'p-1',
        prompt: 'Fix the login',
        tool: 'Bash: rm a.txt',
      },
    })
    expect(s.run(['rewind', '2', '--yes']).code).toBe(0)
    expect(readdirSync(s.project).sort()).toEqual(['a.txt', 'package.json'])
    expect(s.json(['sessions'])).toMatchObject({
      sessions: [{ id: 's-1', agent: 'claude', status: 'completed' }],
    })
  })

  test('for a missing folder its parent is not saved, unless the session works there', () => {
    using s = open({ 'one/a.txt': 'a', 'two/b.txt': 'b' })
    const gone = { ...shell('ls'), cwd: join(s.project, 'gone'), prompt: 'x' }
    const { stdout } = claude(s, 'UserPromptSubmit', gone)
    expect(stdout).toContain('PROJECT_MISSING')
    expect(claude(s, 'PreToolUse', gone)).toEqual(SILENT)
    const { projects, failures } = s.json(['status']) as Record<string, readonly unknown[]>
    expect([projects, failures?.length]).toEqual([[], 1])
    symlinkSync(s.project, join(s.folder, 'link'))
    const there = { session_id: 's-2', prompt: 'x', ...shell('make') }
    claude(s, 'UserPromptSubmit', there)
    for (const cwd of [gone.cwd, join(s.folder, 'link', 'gone')])
      expect(claude(s, 'PreToolUse', { ...there, cwd })).toEqual(SILENT)
    expect(s.json(['status'])).toMatchObject({ projects: [{ path: s.project }] })
  })

  test('an agent that does nothing leaves no session behind', () => {
    using s = open({ 'a.txt': 'one\n' })
    expect(claude(s, 'SessionStart', { source: 'startup' })).toEqual(SILENT)
    expect(claude(s, 'SessionEnd', { reason: 'other' })).toEqual(SILENT)
    expect(s.json(['sessions'])).toEqual({ sessions: [] })
  })

  test('changes of a killed agent are saved under the name of its call when the session resumes', () => {
    using s = open({ 'a.txt': 'one\n' })
    claude(s, 'UserPromptSubmit', { prompt: 'Clean up' })
    claude(s, 'PreToolUse', shell('rm a.txt'))
    s.write({ 'a.txt': 'half\n' })
    claude(s, 'SessionStart', { source: 'resume' })
    s.write({ 'a.txt': 'by hand\n' })
    claude(s, 'UserPromptSubmit', { prompt: 'What happened?' })
    expect(reasons(s)).toEqual([
      'You: Clean up',
      'Bash: rm a.txt (no end seen)',
      'You: What happened?',
    ])
  })

  test('a refused folder lets the agent continue, is reported once, and is no failure', () => {
    using s = open()
    const there = { cwd: join(s.folder, 'user') }
    const first = claude(s, 'UserPromptSubmit', { prompt: 'x', ...there })
    expect(first).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(first.stdout)).toEqual({
      systemMessage: expect.stringContaining('no checkpoint (PROJECT_REFUSED)'),
    })
    expect(claude(s, 'PreToolUse', { ...shell('ls'), ...there })).toEqual(SILENT)
    const strict = claude(s, 'PreToolUse', { ...shell('ls'), ...there }, ['--strict'])
    expect(JSON.parse(strict.stdout)).toMatchObject({
      hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'deny' },
    })
    expect(claude(s, 'Stop', there, ['--strict'])).toEqual(SILENT)
    expect(s.json(['status'])).toMatchObject({ failures: [] })
    expect(claude(s, 'UserPromptSubmit', { prompt: 'here' })).toEqual(SILENT)
    expect(claude(s, 'UserPromptSubmit', { prompt: 'x', ...there }).stdout).toContain(
      'PROJECT_REFUSED',
    )
  })

  test('a hook gives up on a project that is busy for too long', async () => {
    using s = open({ 'a.txt': 'one\n' })
    claude(s, 'UserPromptSubmit', { prompt: 'x' })
    const { projects } = s.json(['status']) as {
      readonly projects: readonly { readonly id: string }[]
    }
    const lock = await takeLock(join(s.home, 'locks', projects[0]?.id ?? ''), {
      waitMs: 0,
      purpose: 'test',
    })
    s.write({ 'a.txt': 'two\n' })
    const { code, stdout } = claude(s, 'PreToolUse', shell('ls'), ['--patience', '1'])
    lock?.release()
    expect(code).toBe(0)
    expect(stdout).toContain('no checkpoint (INTERRUPTED)')
    // Here the lock was busy; a slow first save is reported the same way.
    expect(stdout).toContain('The next save includes these changes.')
    // The next event saves what was missed.
    claude(s, 'Stop')
    expect(reasons(s).at(-1)).toBe('Bash: ls (no end seen)')
  })

  test('a patience beyond the limit of timers does not give up at once', () => {
    using s = open({ 'a.txt': 'one\n' })
    const patient = ['--patience', '3000000']
    expect(claude(s, 'UserPromptSubmit', { prompt: 'Go' }, patient)).toEqual(SILENT)
    expect(reasons(s)).toEqual(['You: Go'])
  })

  test('concurrent hooks all do their work', async () => {
    using s = open({ 'a.txt': 'one\n' })
    const payload = (command: string) => ({
      session_id: 's-3',
      cwd: s.project,
      tool_name: 'run_shell_command',
      tool_input: { command },
    })
    const event = (name: string, fields: Fields) =>
      s.shell(`savestate hook gemini ${name}`, { input: JSON.stringify(fields) })
    event('BeforeAgent', { session_id: 's-3', cwd: s.project, prompt: 'Four at once' })
    const all = (name: string) =>
      Promise.all(
        ['a', 'b', 'c', 'd'].map(async (command) => {
          const { spawn } = await import('node:child_process')
          const child = spawn(process.execPath, [PROGRAM, 'hook', 'gemini', name], {
            env: s.environment,
            cwd: s.project,
          })
          child.stdin.end(JSON.stringify(payload(command)))
          return new Promise((resolve) => child.once('close', resolve))
        }),
      )
    expect(await all('BeforeTool')).toEqual([0, 0, 0, 0])
    s.write({ 'a.txt': 'two\n' })
    expect(await all('AfterTool')).toEqual([0, 0, 0, 0])
    expect(event('AfterAgent', { session_id: 's-3', cwd: s.project })).toEqual(SILENT)
    const [asked, done, ...more] = reasons(s)
    expect(asked).toBe('You: Four at once')
    expect(done).toMatch(/^run_shell_command: [abcd]/)
    expect(more).toEqual([])
    expect(s.run(['verify']).code).toBe(0)
    expect(s.json(['status'])).toMatchObject({ failures: [] })
  })

  test('a subfolder belongs to the project; another project gets its own session', () => {
    using s = open({ 'package.json': '{}', 'packages/a/package.json': '{}' })
    const other = join(s.folder, 'other')
    mkdirSync(other)
    writeFileSync(join(other, 'Makefile'), '')
    claude(s, 'UserPromptSubmit', { prompt: 'one' })
    s.write({ 'packages/a/b.txt': 'b\n' })
    claude(s, 'PostToolUse', { ...shell('ls'), cwd: join(s.project, 'packages/a') })
    claude(s, 'PostToolUse', { ...shell('make'), cwd: other })
    const { checkpoints } = s.json(['list', '--all']) as Listed
    expect(checkpoints.map(({ reason, session }) => [session, reason])).toEqual([
      ['s-1@2', 'Bash: make'],
      ['s-1', 'Bash: ls'],
      ['s-1', 'You: one'],
    ])
  })

  test('no internal failure exits with the code that agents take for a refusal', () => {
    using s = open()
    for (const args of [
      ['hook', 'claude'],
      ['hook', 'nobody', 'Stop'],
      ['hook', 'claude', 'Stop', '--no-such'],
    ])
      expect(s.run(args, { input: '{}' }).code).toBe(1)
    for (const input of ['', '{"session_id":7}', 'x'.repeat(33 * 1024 * 1024)]) {
      const { code, stdout, stderr } = s.run(['hook', 'claude', 'Stop'], { input })
      expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
      expect(stderr).toContain('malformed')
    }
    expect(s.run(['hook', 'claude', 'NoSuchEvent'], { input: '{' })).toEqual(SILENT)
  })

  test.each([
    ['cut off', '{"session_id":'],
    ['not as it must be', '{"session_id":7}'],
    ['too large', JSON.stringify(shell('x'.repeat(33 * 1024 * 1024)))],
  ])('a call that is %s has no checkpoint: a strict hook stops it', (_, input) => {
    using s = open({ 'a.txt': 'one\n' })
    const ended = (...args: readonly string[]) => s.run(['hook', 'claude', ...args], { input })
    const stderr = expect.stringContaining('The hook is strict, so the tool was not run.')
    expect(ended('PreToolUse', '--strict')).toEqual({ code: 2, stdout: '', stderr })
    for (const args of [['PreToolUse'], ['PostToolUse', '--strict'], ['Stop', '--strict']])
      expect(ended(...args)).toMatchObject({ code: 0, stdout: '' })
  })

  test.each([
    ['PreToolUse', '>/dev/full', 0],
    ['PreToolUse', '>/dev/full 2>/dev/full', 0],
    ['PreToolUse', '<.', 0],
    ['PreToolUse --strict', '>/dev/full', 2],
    ['UserPromptSubmit --strict', '>/dev/full', 0],
  ])('%s %s, without input or output, exits with %i', (event, redirected, code) => {
    using s = open()
    const cwd = join(s.folder, 'user')
    const input = JSON.stringify({ session_id: 's-1', cwd, prompt: 'x', ...shell('ls') })
    expect(s.shell(`savestate hook claude ${event} ${redirected}`, { input }).code).toBe(code)
  })
})

test('a bug stops a tool only if the hook is strict', () => {
  using s = ownScratch({ 'a.txt': 'one\n' })
  const preload = join(s.folder, 'bug.cjs')
  writeFileSync(preload, `process.stdin.on('end', () => { throw new Error('a bug') })\n`)
  const env = { NODE_OPTIONS: `--require ${preload}` }
  const input = JSON.stringify({ session_id: 's-1', cwd: s.project, ...shell('ls') })
  const ended = (...args: readonly string[]) => s.run(['hook', 'claude', ...args], { env, input })
  const stderr = expect.stringContaining('This is a bug in Savestate')
  expect(ended('PreToolUse')).toMatchObject({ code: 0, stderr })
  expect(ended('Stop', '--strict')).toMatchObject({ code: 0, stderr })
  expect(ended('PreToolUse', '--strict')).toMatchObject({ code: 2, stderr })
})

test('a store that cannot be opened is reported when a turn starts, and stops a tool only with a strict hook', () => {
  using s = ownScratch()
  writeFileSync(s.home, 'no folder')
  expect(claude(s, 'UserPromptSubmit', { prompt: 'x' }).stdout).toContain('made no checkpoint')
  expect(claude(s, 'PreToolUse', shell('ls'))).toEqual(SILENT)
  expect(claude(s, 'PreToolUse', shell('ls'), ['--strict']).stdout).toContain('deny')
})

test('in an encrypted store prompts are only in encrypted metadata', () => {
  using s = ownScratch({ 'a.txt': 'one\n' })
  const env = { SAVESTATE_KEY: 'ab'.repeat(32) }
  const payload = { session_id: 's-1', cwd: s.project, prompt: 'the unspeakable' }
  const input = JSON.stringify(payload)
  expect(s.run(['hook', 'claude', 'UserPromptSubmit'], { input, env })).toEqual(SILENT)
  expect(reasons(s)).toEqual(['You: a prompt'])
  expect(s.run(['show', '1', '--json'], { env }).stdout).toContain('the unspeakable')
  expect(s.shell(`grep -rl unspeakable "$SAVESTATE_HOME"`).stdout).toBe('')
  expect(claude(s, 'UserPromptSubmit', { prompt: 'x' }).stdout).toContain('KEY_MISSING')
})
