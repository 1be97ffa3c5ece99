// Hooks and the daemon: over HTTP, through a forwarding command, and without a daemon.
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Scratch } from '../cli/program.js'
import {
  type DaemonScratch,
  daemonScratch,
  tcpPortsOf,
  readStatus,
  until,
} from '../daemon/daemon-helpers.js'

type Fields = Readonly<Record<string, unknown>>
type Listed = {
  readonly checkpoints: readonly { readonly reason: string; readonly session: string }[]
}

type Installed = Readonly<
  Record<
    string,
    readonly {
      readonly hooks: readonly {
        readonly type: string
        readonly url?: string
        readonly headers?: Readonly<Record<string, string>>
      }[]
    }[]
  >
>

const SILENT = { code: 0, stdout: '', stderr: '' }
const shell = (command: string) => ({ tool_name: 'Bash', tool_input: { command } })
const rowsOf = (s: Scratch) => (s.json(['list', '--all']) as Listed).checkpoints.toReversed()
const reasons = (s: Scratch) => rowsOf(s).map(({ reason }) => reason)

function payload(s: Scratch, fields: Fields = {}): string {
  return JSON.stringify({ session_id: 's-1', cwd: s.project, ...fields })
}

function command(s: Scratch, eventName: string, fields: Fields = {}) {
  return s.run(['hook', 'claude', eventName], { input: payload(s, fields) })
}

/** As Claude Code sends it. */
async function post(
  s: DaemonScratch,
  path: string,
  body: string,
  headers: Readonly<Record<string, string>> = {},
) {
  const { port, token } = JSON.parse(readFileSync(join(s.home, 'daemon/http.json'), 'utf8'))
  const response = await fetch(`http://127.0.0.1:${port}/v1/hook/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, ...headers },
    body,
  })
  return { status: response.status, text: await response.text() }
}

test('over HTTP a command typed as a prompt is an ordinary prompt: the daemon changes no files', async () => {
  using s = daemonScratch({ 'a.txt': 'one\n' })
  s.daemon('start', '--http')
  s.run(['save'])
  s.write({ 'a.txt': 'two\n' })
  const prompt = { prompt: 'savestate rewind 1 --yes' }
  const answer = await post(s, 'claude/UserPromptSubmit', payload(s, prompt))
  expect(answer).toEqual({ status: 200, text: '' })
  expect(readFileSync(join(s.project, 'a.txt'), 'utf8')).toBe('two\n')
  expect(reasons(s).at(-1)).toBe('You: savestate rewind 1 --yes')
})

test('over HTTP a turn is saved as by commands, and an empty answer means continue', async () => {
  using s = daemonScratch({ 'package.json': '{}' })
  s.daemon('start', '--http')
  const tell = (event: string, fields: Fields = {}) =>
    post(s, `claude/${event}`, payload(s, fields))
  const goOn = { status: 200, text: '' }
  expect(await tell('UserPromptSubmit', { prompt: 'Clean up' })).toEqual(goOn)
  expect(await tell('PreToolUse', shell('rm a'))).toEqual(goOn)
  s.write({ 'a.txt': 'one\n' })
  expect(await tell('PostToolUse', shell('rm a'))).toEqual(goOn)
  expect(await tell('NoSuchEvent')).toEqual(goOn)
  expect(await post(s, 'claude/Stop', '{')).toEqual(goOn)
  expect(reasons(s)).toEqual(['You: Clean up', 'Bash: rm a'])
  // The malformed event is recorded as a failure, and stopped nothing.
  expect(s.json(['status'])).toMatchObject({ failures: [{ code: 'BAD_INPUT' }] })
})

test('over HTTP a failure is reported once, as by a command', async () => {
  using s = daemonScratch()
  s.daemon('start', '--http')
  const body = payload(s, { cwd: join(s.folder, 'user'), prompt: 'x' })
  const first = await post(s, 'claude/UserPromptSubmit', body)
  expect(JSON.parse(first.text)).toEqual({
    systemMessage: expect.stringContaining('no checkpoint (PROJECT_REFUSED)'),
  })
  expect(await post(s, 'claude/UserPromptSubmit', body)).toEqual({ status: 200, text: '' })
})

test('over HTTP a relative path is not resolved against the folder of the daemon', async () => {
  using s = daemonScratch({ 'a.txt': 'one\n' })
  s.daemon('start', '--http')
  const tell = async (cwd: string, command: string) =>
    (await post(s, 'claude/PreToolUse', payload(s, { cwd, ...shell(command) }))).text
  for (const cwd of ['.', 'sub', './', '~']) {
    expect(await tell(cwd, 'npm test')).not.toContain('deny')
    expect(await tell(cwd, `ls ${s.home}`)).toContain('may not access the store')
  }
})

test('unauthorized requests are refused, and unknown hooks are not found', async () => {
  using s = daemonScratch({ 'a.txt': 'one\n' })
  s.daemon('start', '--http')
  const body = payload(s, { prompt: 'x' })
  const statusOf = async (path: string, headers: Readonly<Record<string, string>> = {}) =>
    (await post(s, path, body, headers)).status
  expect(await statusOf('claude/UserPromptSubmit', { authorization: 'Bearer no' })).toBe(401)
  expect(await statusOf('claude/UserPromptSubmit', { origin: 'http://localhost' })).toBe(403)
  for (const path of ['nobody/Stop', 'claude', 'claude/', 'claude/a/b', 'claude/a%2fb'])
    expect([path, await statusOf(path)]).toEqual([path, 404])
  expect(reasons(s)).toEqual([])
})

test('a payload of megabytes is accepted, and one that is too large lets the agent continue', async () => {
  using s = daemonScratch({ 'a.txt': 'one\n' })
  s.daemon('start', '--http')
  const large = (size: number) => payload(s, { prompt: 'Much', rest: 'ä'.repeat(size) })
  expect(await post(s, 'claude/UserPromptSubmit', large(5 << 20))).toEqual({
    status: 200,
    text: '',
  })
  const input = large(5 << 20)
  expect(s.run(['hook', 'claude', 'UserPromptSubmit'], { input })).toEqual(SILENT)
  expect((await readStatus(s)).served).toBe(2)
  expect(reasons(s)).toEqual(['You: Much', 'You: Much'])
  // The client may get EPIPE before it reads the answer.
  await post(s, 'claude/UserPromptSubmit', large(17 << 20)).catch(() => undefined)
  await until(
    () => (s.json(['status']) as { failures: readonly unknown[] }).failures.length === 1,
    'a failure that is noted',
  )
})

test('concurrent sessions in several projects stay separate', async () => {
  using s = daemonScratch({ 'package.json': '{}' })
  s.daemon('start', '--http')
  const roots = ['p', 'q', 'r'].map((name) => join(s.folder, name))
  for (const root of roots) {
    mkdirSync(root)
    writeFileSync(join(root, 'Makefile'), '')
  }
  await Promise.all(
    roots.flatMap((cwd, at) =>
      [1, 2, 3].map((number) =>
        post(
          s,
          'claude/UserPromptSubmit',
          payload(s, { session_id: `${at}-${number}`, cwd, prompt: `${at}` }),
        ),
      ),
    ),
  )
  const rows = rowsOf(s).map(({ session, reason }) => `${session} ${reason}`)
  expect(rows.sort()).toEqual(
    [0, 1, 2].flatMap((at) => [1, 2, 3].map((number) => `${at}-${number} You: ${at}`)),
  )
})

test('a hook without a daemon does its work and starts one, which serves the next hook', async () => {
  using s = daemonScratch({ 'a.txt': 'one\n' })
  expect(command(s, 'SessionStart', { source: 'startup' })).toEqual(SILENT)
  // The hook waits for the daemon, because HTTP hooks follow.
  expect(s.address()).toBeDefined()
  expect(command(s, 'UserPromptSubmit', { prompt: 'Go' })).toEqual(SILENT)
  expect((await readStatus(s)).served).toBe(1)
  expect((await readStatus(s)).projects).toEqual([expect.objectContaining({ path: s.project })])
  expect(reasons(s)).toEqual(['You: Go'])
})

test.each([
  ['the setting', { config: '{"daemon":false}', env: {} }],
  ['the variable', { config: '{}', env: { SAVESTATE_NO_DAEMON: '1' } }],
])('%s keeps hooks from starting the daemon', (_, { config, env }) => {
  using s = daemonScratch({ 'a.txt': 'one\n' })
  s.json(['status'])
  writeFileSync(join(s.home, 'config.json'), config)
  const input = payload(s, { source: 'startup' })
  expect(s.run(['hook', 'claude', 'SessionStart'], { input, env })).toEqual(SILENT)
  expect(s.address()).toBeUndefined()
})

test('no checkpoint is lost if the daemon does not answer or dies', async () => {
  using s = daemonScratch({ 'a.txt': 'one\n' })
  const { pid } = s.daemon('start')
  process.kill(pid, 'SIGSTOP')
  expect(command(s, 'UserPromptSubmit', { prompt: 'Go' })).toEqual(SILENT)
  process.kill(pid, 'SIGKILL')
  s.write({ 'a.txt': 'two\n' })
  expect(command(s, 'PostToolUse', shell('make'))).toEqual(SILENT)
  // There is a new daemon by now.
  await until(() => s.address() !== undefined && s.address()?.pid !== pid, 'a new daemon')
  expect(s.run(['list']).stdout).toContain('Bash: make')
  expect(s.run(['list']).stdout).toContain('You: Go')
})

test('if the daemon dies while it answers, only the output of the hook itself is printed', async () => {
  using s = daemonScratch({ 'a.txt': 'one\n' })
  s.daemon('start')
  const path = join(s.home, 'daemon', 'address.json')
  const address = readFileSync(path, 'utf8')
  s.daemon('stop')
  const dying = createServer((connection) => {
    connection.write('{"ready":true}\n')
    connection.on('data', (text) => {
      if (!String(text).includes('"go"')) return
      connection.end('{"out":"half an ans"}\n{"err":"half a"}\n')
      dying.close()
    })
  })
  await once(dying.listen(join(s.home, 'daemon', 'socket')), 'listening')
  writeFileSync(path, address, { mode: 0o600 })
  const input = payload(s, { prompt: 'Go' })
  const hook = s.start(['hook', 'claude', 'UserPromptSubmit'], { input })
  expect(await hook.ended).toEqual(SILENT)
  expect(s.run(['list']).stdout).toContain('You: Go')
})

test('a hook starts a daemon even if another program has the process id of the dead one', async () => {
  using s = daemonScratch({ 'a.txt': 'one\n' })
  const { pid } = s.daemon('start')
  const path = join(s.home, 'daemon', 'address.json')
  const address = readFileSync(path, 'utf8')
  s.daemon('stop')
  // This process has it.
  writeFileSync(path, address.replace(String(pid), String(process.pid)), { mode: 0o600 })
  expect(command(s, 'UserPromptSubmit', { prompt: 'Go' })).toEqual(SILENT)
  await until(() => s.address() !== undefined && s.address()?.pid !== process.pid, 'a new daemon')
  expect(s.run(['list']).stdout).toContain('You: Go')
})

test('changes of a call without an end event are saved when the folder is idle', async () => {
  using s = daemonScratch({ 'a.txt': 'one\n' })
  s.daemon('start')
  command(s, 'UserPromptSubmit', { prompt: 'Go' })
  command(s, 'PreToolUse', shell('make'))
  // The second save starts the watch.
  s.write({ 'a.txt': 'two\n' })
  execFileSync('sync')
  await until(() => reasons(s).length === 2, 'an unexpected checkpoint')
  expect(reasons(s)).toEqual(['You: Go', 'Bash: make (running)'])
  expect(s.json(['show', '1'])).toMatchObject({ author: 'claude+you' })
})

test('HTTP hooks are installed for tool calls, in a private file, and reach the daemon', async () => {
  using s = daemonScratch({ 'a.txt': 'one\n' })
  const file = join(s.folder, 'user/.claude/settings.json')
  const mine = '{\n  "model": "x"\n}\n'
  mkdirSync(join(s.folder, 'user/.claude'))
  writeFileSync(file, mine, { mode: 0o644 })
  expect(s.run(['install', 'claude', '--http', '-y']).code).toBe(0)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(s.run(['install', 'claude', '--http', '-y']).stdout).toContain('nothing to do')
  const { hooks } = JSON.parse(readFileSync(file, 'utf8')) as { readonly hooks: Installed }
  const types = Object.entries(hooks).map(([event, [group]]) => [event, group?.hooks[0]?.type])
  expect(Object.fromEntries(types)).toEqual({
    SessionStart: 'command',
    UserPromptSubmit: 'command',
    PreToolUse: 'http',
    PostToolUse: 'http',
    PostToolUseFailure: 'http',
    SubagentStop: 'http',
    Stop: 'command',
    StopFailure: 'command',
    PreCompact: 'http',
    SessionEnd: 'command',
  })
  // The daemon has ended; the hook at the start of a turn restarts it on the same port.
  s.daemon('stop')
  command(s, 'SessionStart', { source: 'startup' })
  command(s, 'UserPromptSubmit', { prompt: 'Go' })
  const { url = '', headers = {} } = hooks['PostToolUse']?.[0]?.hooks[0] ?? {}
  s.write({ 'a.txt': 'two\n' })
  const answer = await fetch(url, { method: 'POST', headers, body: payload(s, shell('make')) })
  expect([answer.status, await answer.text()]).toEqual([200, ''])
  expect(reasons(s)).toEqual(['You: Go', 'Bash: make'])
  expect(s.run(['uninstall', 'claude', '-y']).code).toBe(0)
  expect(readFileSync(file, 'utf8')).toBe(mine)
})

test('a TCP port is open only while an agent has HTTP hooks', async () => {
  using s = daemonScratch({ 'package.json': '{}' })
  const ports = () => tcpPortsOf(s.address()?.pid ?? 0)
  expect(s.run(['install', 'claude', '-y']).code).toBe(0)
  command(s, 'SessionStart', { source: 'startup' })
  await until(() => s.address() !== undefined, 'a daemon')
  expect(ports()).toEqual([])
  expect(s.address()?.port).toBeNull()
  expect(existsSync(join(s.home, 'daemon/http.json'))).toBe(false)
  expect(s.run(['status']).stdout).toContain('listens on a Unix socket only')

  expect(s.run(['install', 'claude', '--http', '-y']).code).toBe(0)
  const open = ports()
  expect(open).toEqual([s.address()?.port])
  expect(s.run(['status']).stdout).toContain(`and on TCP port ${open.join()} of 127.0.0.1`)
  s.daemon('stop')
  command(s, 'SessionStart', { source: 'startup' })
  await until(() => s.address() !== undefined, 'a daemon')
  expect(ports()).toEqual(open)

  expect(s.run(['uninstall', 'claude', '-y']).code).toBe(0)
  expect(s.address()).toBeUndefined()
  s.daemon('start')
  expect(ports()).toEqual([])
})

test('the token is in no output, and a new one replaces it once no hooks contain it', async () => {
  using s = daemonScratch({ 'package.json': '{}' })
  const token = () =>
    String(JSON.parse(readFileSync(join(s.home, 'daemon/http.json'), 'utf8')).token)
  const settings = join(s.folder, 'user/.claude/settings.json')
  const outputs: string[] = []
  const run = (...args: string[]) => {
    const { stdout, stderr } = s.run(args)
    outputs.push(stdout, stderr)
  }
  s.daemon('start', '--http')
  const first = token()
  run('install', 'claude', '--http', '--dry-run')
  run('install', 'claude', '--http', '-y', '--json')
  expect(readFileSync(settings, 'utf8')).toContain(first)
  run('install', 'claude', '--dry-run', '--json')
  run('uninstall', 'claude', '--dry-run')
  expect(outputs.join('')).toContain('Bearer ********')
  expect(outputs.join('')).not.toContain(first)

  expect(s.run(['uninstall', 'claude', '-y']).code).toBe(0)
  expect(existsSync(join(s.home, 'daemon/http.json'))).toBe(false)
  const { port } = s.daemon('start', '--http')
  const ask = async (bearer: string) => {
    const headers = { authorization: `Bearer ${bearer}` }
    return (await fetch(`http://127.0.0.1:${port}/v1/status`, { headers })).status
  }
  expect([await ask(first), await ask(token())]).toEqual([401, 200])
})

test('an install without --http closes the port', () => {
  using s = daemonScratch({ 'package.json': '{}' })
  s.run(['install', 'claude', '--http', '-y'])
  expect(s.run(['install', 'claude', '-y']).code).toBe(0)
  expect(existsSync(join(s.home, 'daemon/http.json'))).toBe(false)
  expect(s.address()).toBeUndefined()
  expect(s.daemon('start').port).toBeNull()
})

test('a dry run of an install with --http starts no daemon', () => {
  using s = daemonScratch()
  const { code, stdout } = s.run(['install', 'claude', '--http', '--dry-run'])
  expect([code, stdout]).toEqual([0, expect.stringContaining('http://127.0.0.1:PORT/v1/hook')])
  expect(s.address()).toBeUndefined()
  expect(existsSync(join(s.home, 'daemon'))).toBe(false)
})

test.each([
  ['codex', '--http'],
  ['claude', '--http', '--project'],
  ['claude', '--http', '--strict'],
])('install %s %s %s is refused, and nothing is written', (...args) => {
  using s = daemonScratch()
  expect(s.run(['install', '-y', ...args]).code).toBe(2)
  expect(existsSync(join(s.folder, 'user/.claude'))).toBe(false)
  expect(s.address()).toBeUndefined()
})
