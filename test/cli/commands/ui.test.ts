// `savestate ui` as a process: its address, the browser it opens, who may start it, and its end.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, test } from 'vitest'
import { takeProjectLock } from '../../support/project-lock.js'
import { ownHeaders, send } from '../../ui/page-helpers.js'
import { PROGRAM, type Scratch, scratch } from '../program.js'
import { onTerminal } from '../terminal.js'

type Started = AsyncDisposable & {
  readonly port: number
  readonly token: string
  readonly stderr: () => string
  start(): Promise<{ readonly status: number; readonly body: string }>
  kill(signal: NodeJS.Signals): void
  readonly ended: Promise<number | null>
}

/** Returns when it has printed its address. */
async function startUi(
  s: Scratch,
  args: readonly string[] = ['--no-open'],
  env: Readonly<Record<string, string>> = {},
): Promise<Started> {
  const child = spawn(process.execPath, [PROGRAM, 'ui', '--json', ...args], {
    cwd: s.project,
    env: { ...s.environment, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stderr = ''
  child.stderr.on('data', (text) => (stderr += String(text)))
  const ended = once(child, 'close').then(([code]) => code as number | null)
  const line = await Promise.race([
    once(createInterface(child.stdout), 'line').then(([text]) => String(text)),
    ended.then((code) => Promise.reject(new Error(`It ended with ${code}: ${stderr}`))),
  ])
  const { url, ...others } = JSON.parse(line)
  expect([url, others]).toEqual([
    expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/#[\w-]{43}$/),
    {},
  ])
  const { port: portText, hash } = new URL(url)
  const [port, token] = [Number(portText), hash.slice(1)]
  const headers = ownHeaders({ port, token })
  return {
    port,
    token,
    ended,
    stderr: () => stderr,
    start: () => send(port, { method: 'POST', path: '/api/start', headers, body: '{}' }),
    kill: (signal) => void child.kill(signal),
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM')
      await ended
    },
  }
}

test('it serves the page and the store, and ends on a signal with the store closed', async () => {
  using s = scratch({ 'a.txt': 'one\n' })
  s.json(['save', '-m', 'first'])
  await using ui = await startUi(s)
  const { status, body } = await ui.start()
  expect([status, JSON.parse(body)]).toEqual([
    200,
    expect.objectContaining({ project: s.project, total: 1, isReadOnly: false }),
  ])
  expect((await send(ui.port, { path: '/' })).body).toContain('<title>Savestate</title>')
  ui.kill('SIGINT')
  expect([await ui.ended, ui.stderr()]).toEqual([0, ''])
  expect(existsSync(join(s.home, 'ledger.db-wal'))).toBe(false)
})

test('a folder that is no project shows the project that was used last', async () => {
  using s = scratch({ 'a.txt': 'one\n' })
  s.json(['save'])
  await using ui = await startUi(s, ['--no-open', '-C', '/'])
  expect(JSON.parse((await ui.start()).body)).toMatchObject({ project: s.project, total: 1 })
})

test('an agent may start only a page that changes nothing', async () => {
  using s = scratch({ 'a.txt': 'one\n' })
  s.json(['save'])
  const agent = { CLAUDECODE: '1' }
  expect(s.run(['ui', '--no-open', '--json'], { env: agent })).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('NEEDS_PERSON'),
  })
  const file = join(s.folder, 'page.html')
  expect(s.run(['ui', '--export', file, '--json'], { env: agent })).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('NEEDS_PERSON'),
  })
  expect(existsSync(file)).toBe(false)
  await using ui = await startUi(s, ['--no-open', '--read-only'], agent)
  expect(JSON.parse((await ui.start()).body)).toMatchObject({ isReadOnly: true })
})

test('a port in use, a wrong port and a store that cannot be opened end with a hint', async () => {
  using s = scratch({ 'a.txt': 'one\n' })
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const { port } = taken.address() as AddressInfo
  expect(s.run(['ui', '--no-open', '--port', String(port)])).toEqual({
    code: 2,
    stdout: '',
    stderr: `Error: The port ${port} is in use.\nChoose another one with --port, or leave it out: then any free port is used.\n`,
  })
  taken.close()
  expect(s.run(['ui', '--no-open', '--port', '70000'])).toMatchObject({ code: 2, stdout: '' })
  s.json(['save'])
  writeFileSync(join(s.home, 'ledger.db'), 'not a database')
  const ended = s.run(['ui', '--no-open', '--json'])
  expect([ended.code, JSON.parse(ended.stderr).error.code]).toEqual([2, 'STORE_DAMAGED'])
})

test('without a terminal the key is not printed', async () => {
  using s = scratch({ 'a.txt': 'one\n' })
  const child = spawn(process.execPath, [PROGRAM, 'ui', '--no-open'], {
    cwd: s.project,
    env: { ...s.environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  try {
    const stderr = child.stderr.toArray()
    const [line] = await once(createInterface(child.stdout), 'line')
    expect(line).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/)
    child.kill('SIGTERM')
    expect(await once(child, 'close')).toEqual([0, null])
    expect(Buffer.concat(await stderr).toString()).toBe(
      'The key of the page is printed only on a terminal and with --json.\n',
    )
  } finally {
    child.kill('SIGKILL')
  }
})

test('the browser gets a private file that redirects to the page, and it is removed when the page is there', async () => {
  using s = scratch({ 'a.txt': 'one\n' })
  const log = join(s.folder, 'opened')
  const opener = join(s.folder, 'bin', 'xdg-open')
  writeFileSync(opener, `#!/bin/sh\nprintf %s "$*" > '${log}.new' && mv '${log}.new' '${log}'\n`)
  chmodSync(opener, 0o755)
  await using ui = await startUi(s, [], { DISPLAY: ':9' })
  await expect.poll(() => existsSync(log)).toBe(true)
  const file = readFileSync(log, 'utf8')
  expect(file).not.toContain(ui.token)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(statSync(join(file, '..')).mode & 0o777).toBe(0o700)
  expect(readFileSync(file, 'utf8')).toContain(
    `content="0; url=http://127.0.0.1:${ui.port}/#${ui.token}"`,
  )
  await ui.start()
  await expect.poll(() => existsSync(join(file, '..'))).toBe(false)
})

test('it continues if no browser can be opened, and leaves no file behind', async () => {
  using s = scratch({ 'a.txt': 'one\n' })
  const temporary = join(s.folder, 'tmp')
  s.shell(`mkdir '${temporary}'`)
  await using ui = await startUi(s, [], { TMPDIR: temporary })
  expect((await ui.start()).status).toBe(200)
  expect(s.shell(`ls '${temporary}'`).stdout).toBe('')
})

const snapOf = (s: Scratch) => join(s.folder, 'user', 'snap', 'firefox', 'common')

test.each([
  ['a snap', 'firefox_firefox.desktop', (s: Scratch) => snapOf(s)],
  ['another program', 'firefox.desktop', (s: Scratch) => join(s.folder, 'user')],
  ['a snap that never ran', 'chromium_chromium.desktop', (s: Scratch) => join(s.folder, 'user')],
])('the file is where the default browser can read it: %s', async (_, desktop, placeOf) => {
  using s = scratch({ 'a.txt': 'one\n' })
  mkdirSync(snapOf(s), { recursive: true })
  const log = join(s.folder, 'opened')
  writeProgram(s, 'xdg-settings', `[ "$*" = 'get default-web-browser' ] && echo ${desktop}`)
  writeProgram(s, 'xdg-open', `printf %s "$*" > '${log}.new' && mv '${log}.new' '${log}'`)
  await using ui = await startUi(s, [], { DISPLAY: ':9' })
  await expect.poll(() => existsSync(log)).toBe(true)
  const file = readFileSync(log, 'utf8')
  expect(join(file, '..', '..')).toBe(placeOf(s))
  expect(statSync(file).mode & 0o777).toBe(0o600)
  await ui.start()
  await expect.poll(() => existsSync(join(file, '..'))).toBe(false)
})

function writeProgram(s: Scratch, name: string, script: string): void {
  const path = join(s.folder, 'bin', name)
  writeFileSync(path, `#!/bin/sh\n${script}\n`)
  chmodSync(path, 0o755)
}

test('Ctrl-C during a restore says that it waits, and the restore is finished', async () => {
  using s = scratch({ 'a.txt': 'one\n' })
  s.json(['save'])
  s.write({ 'a.txt': 'two\n' })
  const terminal = onTerminal(s, 'exec savestate ui --no-open', { rows: 24, columns: 200 })
  await terminal.shows('End with Ctrl-C.')
  const { call, plan } = await planRewind(s, terminal.output())
  const lock = await takeProjectLock(s)
  // The token is valid once: when one of them is refused, the other one runs and waits for the lock.
  const both = [1, 2].map(() => call('apply', { token: plan.token }))
  const refused = await Promise.race(both)
  expect(refused).toMatchObject({ status: 409, body: { error: { code: 'PLAN_STALE' } } })
  terminal.type('\u0003')
  await terminal.shows(
    'Waiting for the restore to finish. A second Ctrl-C ends at once: the next command then finishes the restore.',
  )
  lock.release()
  expect((await Promise.all(both)).find(({ status }) => status === 200)?.body).toMatchObject({
    restore: 'files',
    written: 1,
  })
  expect(await terminal.ended).toBe(0)
  expect(readFileSync(join(s.project, 'a.txt'), 'utf8')).toBe('one\n')
})

test('a second Ctrl-C during a restore ends at once, and the next command finds no half of it', async () => {
  using s = scratch({ 'a.txt': 'one\n' })
  s.json(['save'])
  s.write({ 'a.txt': 'two\n' })
  const terminal = onTerminal(s, 'exec savestate ui --no-open', { rows: 24, columns: 200 })
  await terminal.shows('End with Ctrl-C.')
  const { call, plan } = await planRewind(s, terminal.output())
  const lock = await takeProjectLock(s)
  const both = [1, 2].map(() => call('apply', { token: plan.token }))
  const cut = Promise.allSettled(both)
  await Promise.race(both)
  terminal.type('\u0003')
  await terminal.shows('Waiting for the restore to finish.')
  terminal.type('\u0003')
  expect(await terminal.ended).toBe(130)
  expect((await cut).map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  lock.release()
  expect(s.json(['list'])).toMatchObject({ checkpoints: [{ kind: 'save' }] })
  expect(readFileSync(join(s.project, 'a.txt'), 'utf8')).toBe('two\n')
})

/** A plan of the page on this terminal, and how the page calls its server. */
async function planRewind(s: Scratch, output: string) {
  const [, portText = '', token = ''] = /:(\d+)\/#([\w-]+)/.exec(output) ?? []
  const port = Number(portText)
  const headers = ownHeaders({ port, token })
  const call = async (method: string, input: unknown) => {
    const body = JSON.stringify(input)
    const answer = await send(port, { method: 'POST', path: `/api/${method}`, headers, body })
    return { status: answer.status, body: JSON.parse(answer.body) }
  }
  const input = { project: s.project, kind: 'rewind', ref: '1', restore: 'files' }
  return { call, plan: (await call('plan', input)).body as { readonly token: string } }
}
