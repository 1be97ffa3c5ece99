// Requests that the daemon accepts and refuses over HTTP and over its socket.
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, readFileSync } from 'node:fs'
import { Agent, type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { checkpointsOf, type DaemonScratch, daemonScratch } from './daemon-helpers.js'

type Asked = {
  readonly method?: string
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly agent?: Agent
}
type Answered = { readonly status: number; readonly json: unknown }

let s: DaemonScratch
let port = 0
let token = ''

beforeAll(() => {
  s = daemonScratch({ 'package.json': '{}\n', 'sub/a.txt': 'one\n' })
  port = s.daemon('start', '--http').port ?? 0
  token = JSON.parse(readFileSync(join(s.home, 'daemon/http.json'), 'utf8')).token
})
afterAll(() => s[Symbol.dispose]())

const bearer = () => ({ authorization: `Bearer ${token}` })
const error = (code: string) => ({ error: expect.objectContaining({ code }) })

test('a save answers what save --json prints, repeatedly on one connection', async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const save = (body: unknown) => ask({ headers: bearer(), body: JSON.stringify(body), agent })
  const first = await save({ path: join(s.project, 'sub'), reason: 'by a hook', name: 'one' })
  expect(first).toEqual({
    status: 200,
    json: expect.objectContaining({ created: true, reason: 'by a hook', name: 'one', files: 2 }),
  })
  const { created, ...checkpoint } = first.json as Readonly<Record<string, unknown>>
  expect(created).toBe(true)
  expect(s.json(['list'])).toEqual({ checkpoints: [expect.objectContaining(checkpoint)] })
  expect(await save({ path: s.project })).toMatchObject({ status: 200, json: { created: false } })
  const status = await ask({ method: 'GET', path: '/v1/status', headers: bearer(), agent })
  expect(status).toMatchObject({ status: 200, json: { home: s.home, port } })
  agent.destroy()
})

test.each<[string, () => Asked, number, string]>([
  ['no token', () => ({}), 401, 'ACCESS_REFUSED'],
  [
    'a wrong token',
    () => ({ headers: { authorization: `Bearer ${token.slice(0, -1)}` } }),
    401,
    'ACCESS_REFUSED',
  ],
  ['a token in another way', () => ({ headers: { authorization: token } }), 401, 'ACCESS_REFUSED'],
  [
    'a foreign host',
    () => ({ headers: { ...bearer(), host: `evil.example:${port}` } }),
    403,
    'ACCESS_REFUSED',
  ],
  ['another port', () => ({ headers: { ...bearer(), host: '127.0.0.1' } }), 403, 'ACCESS_REFUSED'],
  [
    'a page',
    () => ({ headers: { ...bearer(), origin: 'https://evil.example' } }),
    403,
    'ACCESS_REFUSED',
  ],
  ['no such address', () => ({ path: '/v1/rewind', headers: bearer() }), 404, 'BAD_INPUT'],
  ['a name of an object', () => ({ path: '/__proto__', headers: bearer() }), 404, 'BAD_INPUT'],
  ['another method', () => ({ method: 'GET', headers: bearer() }), 405, 'BAD_INPUT'],
  ['no JSON', () => ({ headers: bearer(), body: '{' }), 400, 'BAD_INPUT'],
  ['no object', () => ({ headers: bearer(), body: '[]' }), 400, 'BAD_INPUT'],
  ['no path', () => ({ headers: bearer(), body: '{"path":"sub"}' }), 400, 'BAD_INPUT'],
  [
    'an unknown key',
    () => ({ headers: bearer(), body: '{"path":"/x","force":true}' }),
    400,
    'BAD_INPUT',
  ],
  [
    'a name that is no text',
    () => ({ headers: bearer(), body: '{"path":"/x","name":1}' }),
    400,
    'BAD_INPUT',
  ],
  [
    'a folder that is not there',
    () => ({ headers: bearer(), body: '{"path":"/nowhere/at/all"}' }),
    404,
    'PROJECT_MISSING',
  ],
  [
    'a project that is gone from a folder with others',
    () => ({ headers: bearer(), body: JSON.stringify({ path: join(s.folder, 'gone') }) }),
    404,
    'PROJECT_MISSING',
  ],
  [
    'a folder that is never captured',
    () => ({ headers: bearer(), body: '{"path":"/"}' }),
    403,
    'PROJECT_REFUSED',
  ],
  ['a huge body', () => ({ headers: bearer(), body: 'x'.repeat(70_000) }), 413, 'BAD_INPUT'],
  [
    'a huge body of unknown length',
    () => ({
      headers: { ...bearer(), 'transfer-encoding': 'chunked' },
      body: 'x'.repeat(70_000),
    }),
    413,
    'BAD_INPUT',
  ],
])('%s is refused', async (_what, asked, status, code) => {
  expect(await ask({ body: JSON.stringify({ path: s.project }), ...asked() })).toEqual({
    status,
    json: error(code),
  })
})

test.each<[string, () => { port: number } | { path: string }, string]>([
  ['garbage on the port', () => ({ port }), '\u0000\u0001garbage\r\n\r\n'],
  ['endless headers', () => ({ port }), `GET / HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`],
  ['garbage on the socket', () => ({ path: socket() }), '\u0000\u0001garbage\n'],
  ['HTTP on the socket', () => ({ path: socket() }), 'GET /v1/status HTTP/1.1\r\n\r\n'],
  ['an endless line', () => ({ path: socket() }), 'x'.repeat(3 << 20)],
  ['a word before its time', () => ({ path: socket() }), '{"do":"run"}\n{"go":true}\n'],
  ['half a request', () => ({ path: socket() }), '{"do":"run","build":"x","argv":[1]}\n'],
])('%s ends the connection and not the daemon', async (_what, where, text) => {
  const answer = await sent(where(), text)
  expect(answer).toMatch(/^$|^HTTP\/1\.1 4|^\{"refused":/)
  expect(await ask({ method: 'GET', path: '/v1/status', headers: bearer() })).toMatchObject({
    status: 200,
    json: { working: 1 },
  })
})

test('another user has no access', () => {
  const isRoot = process.getuid?.() === 0
  expect(isRoot ? seenByNobody() : seenModes()).toBe(
    isRoot ? 'EACCES EACCES EACCES ' : '700\n700\n600\n600\n600\n',
  )
})

function seenByNobody(): string {
  // The parent folder is open to other users, so that only the store itself keeps them out.
  chmodSync(s.folder, 0o755)
  const script = `
    const net = require('node:net'), fs = require('node:fs')
    const tell = (text) => process.stdout.write(text + ' ')
    for (const name of ['http.json', 'address.json'])
      try { tell(fs.readFileSync(process.argv[1] + '/daemon/' + name)) } catch (e) { tell(e.code) }
    net.connect(process.argv[1] + '/daemon/socket').on('error', (e) => tell(e.code)).on('connect', () => tell('in'))`
  const args = ['--reuid=65534', '--regid=65534', '--clear-groups', process.execPath, '-e', script]
  return spawnSync('setpriv', [...args, s.home], { encoding: 'utf8', cwd: '/' }).stdout
}

function seenModes(): string {
  const places = ['daemon/socket', 'daemon/http.json', 'daemon/address.json']
  return s.shell(`cd ${s.home} && stat -c %a . daemon ${places.join(' ')}`).stdout
}

test('slow clients are disconnected', async () => {
  const headers = `Host: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\nContent-Length: 9`
  const answers = await Promise.all([
    sent({ port }, 'POST /v1/save HTTP/1.1\r\nX'),
    sent({ port }, `POST /v1/save HTTP/1.1\r\n${headers}\r\n\r\n{`),
    sent({ port }, ''),
    sent({ path: socket() }, ''),
    sent({ path: socket() }, '{"do":'),
  ])
  expect(answers.map((text) => text.split('\r\n')[0])).toEqual([
    'HTTP/1.1 408 Request Timeout',
    'HTTP/1.1 408 Request Timeout',
    expect.stringMatching(/^$|408/),
    '',
    '',
  ])
})

test('idle connections do not block authorized requests', async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const status = (by?: Agent) =>
    ask({ method: 'GET', path: '/v1/status', headers: bearer(), ...(by && { agent: by }) })
  // This one has sent the token, so it stays open.
  expect(await status(agent)).toMatchObject({ status: 200 })
  const idle = Array.from({ length: 100 }, () => connect({ host: '127.0.0.1', port }))
  try {
    await Promise.all(
      idle.map((one) =>
        once(
          one.on('error', () => undefined),
          'connect',
        ),
      ),
    )
    for (let count = 0; count < 20; count += 1)
      expect(await status()).toMatchObject({ status: 200 })
    expect(await status(agent)).toMatchObject({ status: 200 })
  } finally {
    for (const one of idle) one.destroy()
    agent.destroy()
  }
})

test('after all that the daemon still works', async () => {
  // None of those above has saved anything.
  expect(checkpointsOf(s)).toBe(1)
  s.write({ 'sub/a.txt': 'two\n' })
  const body = JSON.stringify({ path: s.project, reason: 'still' })
  expect(await ask({ headers: bearer(), body })).toMatchObject({ status: 200 })
  expect(s.run(['list']).stdout).toContain('still')
  expect(s.daemon('stop')).toEqual({ running: false, stopped: true })
  await expect(ask({ headers: bearer(), body })).rejects.toMatchObject({
    code: expect.stringMatching(/^ECONN/),
  })
})

function socket(): string {
  return s.address()?.socket ?? ''
}

function ask({
  method = 'POST',
  path = '/v1/save',
  headers,
  body,
  agent,
}: Asked): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const options = {
      host: '127.0.0.1',
      port,
      method,
      path,
      ...(agent === undefined ? {} : { agent }),
    }
    const asked = request({ ...options, headers: { ...headers } }, (response) =>
      resolve(answerOf(response)),
    )
    // A client that is refused early may find the connection closed while it is still sending.
    asked.on('error', (fault: Error & { code?: string }) => {
      if (fault.code !== 'EPIPE') reject(fault)
    })
    asked.end(method === 'GET' ? undefined : body)
  })
}

async function answerOf(response: IncomingMessage): Promise<Answered> {
  let text = ''
  for await (const part of response) text += String(part)
  return { status: response.statusCode ?? 0, json: JSON.parse(text) }
}

/** Reads until the server closes the connection. */
function sent(where: { port: number } | { path: string }, text: string): Promise<string> {
  return new Promise((resolve) => {
    const connection = connect({ host: '127.0.0.1', ...where })
    let answer = ''
    connection.on('data', (part) => (answer += String(part)))
    connection.on('error', () => undefined)
    connection.on('close', () => resolve(answer))
    connection.write(text)
  })
}
