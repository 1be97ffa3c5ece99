// Wrong usage and failures: messages, exit codes, and streams.
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { DatabaseSync } from '../support/own-sqlite.js'
import { expect, test } from 'vitest'
import { report } from '../../src/cli/runtime/exit.js'
import { openScreen } from '../../src/cli/terminal/screen.js'
import { scratch } from './program.js'

test('the version is printed without anything else being loaded', () => {
  using s = scratch()
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
  expect(s.run(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
  expect(s.json(['-V'])).toEqual({ version })
  const loaded = s.run(['--version'], { env: { NODE_DEBUG: 'esm' } }).stderr
  expect(loaded).not.toContain('main-')
})

test('wrong usage prints the fault and the usage, and exits with 2', () => {
  using s = scratch()
  expect(s.run(['lsit'])).toEqual({
    code: 2,
    stdout: '',
    stderr:
      'Error: There is no command "lsit"; did you mean `list`?\n' +
      'Usage: savestate [-C DIR] <command> [options]\n' +
      '`savestate help` lists the commands.\n',
  })
  expect(s.run(['list', '--limit', 'many'])).toEqual({
    code: 2,
    stdout: '',
    stderr:
      'Error: --limit takes a whole number of 1 or more, not "many".\n' +
      'Usage: savestate list [-n N] [--prompts] [--grep WORDS] [--pinned] [--session ID | --all] [-- PATH…]\n',
  })
  for (const args of [
    ['rewind'],
    ['show', '1', '2'],
    ['undo', 'now'],
    ['list', '--frobnicate'],
    ['--all'],
    ['help', 'lsit'],
    ['completion', 'tcsh'],
    ['show', ''],
  ]) {
    expect({ args, ...s.run(args) }).toMatchObject({ args, code: 2, stdout: '' })
  }
})

test('with --json an error is JSON on stderr', () => {
  using s = scratch({ 'a.txt': 'one\n' })
  const errorOf = (...args: string[]) => {
    const { code, stdout, stderr } = s.run([...args, '--json'])
    expect([code, stdout]).toEqual([2, ''])
    return JSON.parse(stderr)
  }
  expect(errorOf('list', '--limit', '0')).toEqual({
    error: {
      code: 'BAD_INPUT',
      message: '--limit takes a whole number of 1 or more, not "0"',
      hint: 'Usage: savestate list [-n N] [--prompts] [--grep WORDS] [--pinned] [--session ID | --all] [-- PATH…]',
    },
  })
  expect(errorOf('show', '1')).toMatchObject({ error: { code: 'CHECKPOINT_UNKNOWN' } })
  expect(errorOf('undo', '--yes')).toMatchObject({ error: { code: 'NOTHING_TO_UNDO' } })
})

test('-C is taken before and after the command', () => {
  using s = scratch({ 'a.txt': 'one\n' })
  const away = { cwd: s.folder }
  expect(s.run(['-C', 'project', 'save'], away)).toMatchObject({ code: 0 })
  const before = s.run(['-C', 'project', '--json', 'list'], away)
  expect(JSON.parse(before.stdout)).toMatchObject({ checkpoints: [{ files: 1 }] })
  expect(s.run(['list', '--json', '-C', 'project'], away)).toEqual(before)
  expect(s.run(['-C', 'nowhere', 'list'], away)).toEqual({
    code: 2,
    stdout: '',
    stderr: 'Error: There is no folder "nowhere".\nName an existing folder.\n',
  })
})

test('with -C, printed commands are for that project too', () => {
  using s = scratch({ 'a.txt': 'one\n' })
  const shown = (...args: string[]) => {
    const { stdout, stderr } = s.run(['-C', s.project, ...args], { cwd: s.folder })
    return [...`${stdout}${stderr}`.matchAll(/(savestate(?: -C \S+)?) (\w+)/g)].map(
      ([, program, command]) => [program, command],
    )
  }
  const program = `savestate -C ${s.project}`
  expect(shown('list')).toEqual([[program, 'save']])
  expect(shown()).toEqual([
    ...['save', 'diff', 'rewind', 'ui'].map((name) => [program, name]),
    ['savestate', 'help'],
  ])
  shown('save')
  s.write({ 'a.txt': 'two\n' })
  expect(shown('rewind', '1', '-y')).toEqual([[program, 'undo']])
  expect(shown('undo', '-y')).toEqual([[program, 'redo']])
  expect(shown('redo', '-y')).toEqual([[program, 'undo']])
  expect(shown('list', '--limit', '1')).toEqual([[program, 'list']])
  expect(shown().map(([, name]) => name)).toEqual(['diff', 'rewind', 'ui', 'save', 'list', 'help'])
})

test('a home folder is refused, and the hint says what to do instead', () => {
  using s = scratch()
  const { code, stdout, stderr } = s.run([], { cwd: join(s.folder, 'user') })
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toMatch(
    /^Error: .* is a home folder; it is never captured\.\n.*-C\.\n`savestate help`/,
  )
})

test('without a terminal and without --yes nothing is changed', () => {
  using s = scratch({ 'a.txt': 'one\n' })
  s.run(['save'])
  s.write({ 'a.txt': 'two\n' })
  const { code, stdout, stderr } = s.run(['rewind', '1'])
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toMatch(/^Error: .*\nAdd --yes /)
  expect(readFileSync(join(s.project, 'a.txt'), 'utf8')).toBe('two\n')
  expect(JSON.parse(s.run(['rewind', '1', '--json']).stderr)).toMatchObject({
    error: { code: 'CONFIRMATION_NEEDED' },
  })
  expect(s.json(['list'])).toMatchObject({ checkpoints: [{ kind: 'save' }] })
  s.run(['rewind', '1', '--yes'])
  expect(s.run(['undo'])).toMatchObject({ code: 2 })
  expect(readFileSync(join(s.project, 'a.txt'), 'utf8')).toBe('one\n')
})

test('a reader that stops early is no error', () => {
  using s = scratch({ 'a.txt': 'x\n'.repeat(100_000) })
  s.run(['save'])
  rmSync(join(s.project, 'a.txt'))
  const { stdout, stderr } = s.shell('savestate diff 1 | head -1; savestate list | true')
  expect({ stdout, stderr }).toEqual({ stdout: 'diff --git a/a.txt b/a.txt\n', stderr: '' })
  const { stdout: codes } = s.shell('(savestate diff 1; echo $? >&2) 2>&1 >/dev/full | tail -1')
  expect(codes).toBe('2\n')
})

test('output to a pipe has no colors unless requested', () => {
  using s = scratch({ 'a.txt': 'one\n' })
  s.run(['save'])
  s.write({ 'a.txt': 'two\n' })
  expect(s.run(['diff', '1']).stdout).not.toContain('\u001b')
  expect(s.run(['diff', '1'], { env: { FORCE_COLOR: '1' } }).stdout).toContain('\u001b[32m+two')
  expect(s.run(['lsit'], { env: { FORCE_COLOR: '1' } }).stderr).toContain('\u001b[31mError: ')
  expect(s.run(['list'], { env: { NO_COLOR: '1' } }).stdout).not.toContain('\u001b')
})

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)(
  '%s ends a waiting command at once with %d, and the store is whole',
  async (signal, code) => {
    using s = scratch({ 'a.txt': 'one\n' })
    s.run(['save'])
    const { projects } = s.json(['status']) as { projects: [{ id: string }] }
    s.write({ 'a.txt': 'two\n' })
    // We hold the lock, so the command is still running when the signal comes.
    const lock = new DatabaseSync(join(s.home, 'locks', projects[0].id))
    lock.exec('BEGIN EXCLUSIVE')
    const child = s.start(['save', '--json'])
    await sleep(1500)
    const startMs = Date.now()
    child.kill(signal)
    const ended = await child.ended
    lock.close()
    expect(Date.now() - startMs).toBeLessThan(5000)
    expect({ code: ended.code, stdout: ended.stdout }).toEqual({ code, stdout: '' })
    expect(JSON.parse(ended.stderr)).toMatchObject({ error: { code: 'INTERRUPTED' } })
    expect(s.json(['verify'])).toMatchObject({ problems: [] })
    expect(s.json(['save'])).toMatchObject({ created: true })
  },
)

test('a bug in Savestate is reported with its stack, the address for reports, and exit code 70', async () => {
  const written: string[] = []
  const output = { write: (text: string) => written.push(text) }
  const screen = openScreen({ stdout: output, stderr: output, env: {} })
  expect(await report(new RangeError('boom\u001b[31m'), { screen, isJson: false })).toBe(70)
  expect(written.join('')).toMatch(
    /^Error: boom\^\[\[31m\.\nThis is a bug in Savestate\. Please report it.*, with these lines\.\n\nRangeError: boom.*\n {4}at /,
  )
})

test('-C works as in git: as if the command were started there', () => {
  using s = scratch({ 'package.json': '{}\n', 'sub/a.txt': 'a\n' })
  s.run(['save'])
  s.write({ 'sub/a.txt': 'b\n' })
  const saved = s.run(['-C', 'sub', 'save', '--json'])
  expect(JSON.parse(saved.stdout)).toMatchObject({ created: true, files: 1 })
  expect(s.json(['status'])).toMatchObject({ projects: [{ path: s.project, checkpoints: 2 }] })
  expect(s.run(['-C', 'sub', 'cat', '2', 'a.txt']).stdout).toBe('a\n')
  expect(s.run(['-C', 'sub', 'run', '--', 'pwd']).stdout).toContain(`${s.project}/sub\n`)
})
