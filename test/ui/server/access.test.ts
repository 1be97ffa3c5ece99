// Requests that must be refused: of other pages, other programs and other users of the machine.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ASSET, type Asked, openPage, ownHeaders, type Page } from '../page-helpers.js'

const HINT = expect.any(String)

let page: Page
let opened = 0

beforeAll(async () => {
  page = await openPage({ 'a.txt': 'one\n' })
  await page.project.save()
  // Any use of the store by a refused request would be counted.
  const projects = page.store.projects.bind(page.store)
  page.store.projects = () => {
    opened += 1
    return projects()
  }
})
afterAll(() => page[Symbol.asyncDispose]())

type Headers = NonNullable<Asked['headers']>
const own = (others: Headers = {}): Headers => ({ ...ownHeaders(page), ...others })
const start = (headers: Headers, others: Partial<Asked> = {}): Asked => ({
  method: 'POST',
  path: '/api/start',
  headers,
  body: '{}',
  ...others,
})
const get = (path: string, headers: Headers = {}): Asked => ({
  path,
  headers: own({ origin: undefined, 'content-type': undefined, ...headers }),
})

test('the page itself is answered', async () => {
  expect(await page.ask(start(own()))).toMatchObject({ status: 200 })
  expect(opened).toBe(1)
})

describe('a request is refused before the store is read', () => {
  test.each<[string, () => Asked, number]>([
    ['the name localhost', () => start(own({ host: `localhost:${page.port}` })), 403],
    [
      'a name that was bound to 127.0.0.1',
      () => start(own({ host: `evil.example:${page.port}` })),
      403,
    ],
    ['another port in the name', () => start(own({ host: '127.0.0.1:1' })), 403],
    ['a name without the port', () => start(own({ host: '127.0.0.1' })), 403],
    ['the address in another form', () => start(own({ host: `127.1:${page.port}` })), 403],
    ['an IPv6 name', () => start(own({ host: `[::1]:${page.port}` })), 403],
    [
      'a rebound name for the page itself',
      () => ({ path: '/', headers: { host: 'evil.example' } }),
      403,
    ],
    ['a rebound name for a file', () => ({ path: ASSET, headers: { host: 'evil.example' } }), 403],
    ['no origin', () => start(own({ origin: undefined })), 403],
    ['a foreign origin', () => start(own({ origin: 'https://evil.example' })), 403],
    [
      'the origin of another local port',
      () => start(own({ origin: 'http://127.0.0.1:3000' })),
      403,
    ],
    ['the origin localhost', () => start(own({ origin: `http://localhost:${page.port}` })), 403],
    ['the origin null', () => start(own({ origin: 'null' })), 403],
    ['an https origin', () => start(own({ origin: `https://127.0.0.1:${page.port}` })), 403],
    ['another site', () => start(own({ 'sec-fetch-site': 'cross-site' })), 403],
    ['the same site', () => start(own({ 'sec-fetch-site': 'same-site' })), 403],
    ['an address that the user typed', () => start(own({ 'sec-fetch-site': 'none' })), 403],
    ['an old browser', () => start(own({ 'sec-fetch-site': undefined })), 403],
    ['no token', () => start(own({ authorization: undefined })), 401],
    ['an empty token', () => start(own({ authorization: 'Bearer ' })), 401],
    ['a wrong token', () => start(own({ authorization: `Bearer ${'A'.repeat(43)}` })), 401],
    [
      'a part of the token',
      () => start(own({ authorization: `Bearer ${page.token.slice(0, -1)}` })),
      401,
    ],
    [
      'the token twice',
      () => start(own({ authorization: `Bearer ${page.token} ${page.token}` })),
      401,
    ],
    ['another scheme', () => start(own({ authorization: `Basic ${page.token}` })), 401],
    [
      'the token in the query',
      () => start(own({ authorization: undefined }), { path: `/api/start?token=${page.token}` }),
      401,
    ],
    [
      'the token in a cookie',
      () => start(own({ authorization: undefined, cookie: `token=${page.token}` })),
      401,
    ],
    ['a form', () => start(own({ 'content-type': 'text/plain' })), 415],
    [
      'a form of another kind',
      () => start(own({ 'content-type': 'application/x-www-form-urlencoded' })),
      415,
    ],
    ['no type', () => start(own({ 'content-type': undefined })), 415],
    ['a huge body', () => start(own({ 'content-length': `${17 << 20}` })), 413],
    [
      'a huge body of unknown length',
      () =>
        start(own({ 'transfer-encoding': 'chunked' }), {
          body: `{"project":"${'x'.repeat(17 << 20)}"}`,
        }),
      413,
    ],
    ['no JSON', () => start(own(), { body: '{' }), 400],
    ['another kind of JSON', () => start(own(), { body: '[]' }), 400],
    ['an unknown field', () => start(own(), { body: '{"projects":"x"}' }), 400],
    ['a number for a text', () => start(own(), { body: '{"project":1}' }), 400],
    [
      'an unknown choice for conflicts',
      () =>
        start(own(), {
          path: '/api/plan',
          body: '{"project":"x","kind":"undoStep","ref":"1","conflict":"union"}',
        }),
      400,
    ],
    [
      'several steps',
      () =>
        start(own(), {
          path: '/api/plan',
          body: '{"project":"x","kind":"undoStep","ref":["1","2"]}',
        }),
      400,
    ],
    [
      'the undo of a step without a plan',
      () => start(own(), { path: '/api/undoSteps', body: '{"project":"x","refs":["1"]}' }),
      404,
    ],
    ['an unknown method', () => start(own(), { path: '/api/delete' }), 404],
    ['a name of every object', () => start(own(), { path: '/api/constructor' }), 404],
    ['a method below another', () => start(own(), { path: '/api/start/x' }), 404],
    ['a method by GET', () => get('/api/start'), 405],
    ['a preflight', () => ({ ...get('/api/start'), method: 'OPTIONS' }), 405],
    ['a method by PUT', () => start(own(), { method: 'PUT' }), 405],
    ['events by POST', () => start(own(), { path: '/api/events' }), 405],
    ['events of another site', () => get('/api/events', { 'sec-fetch-site': 'cross-site' }), 403],
    ['events without a token', () => get('/api/events', { authorization: undefined }), 401],
    ['a file without a token', () => get('/api/file?project=x', { authorization: undefined }), 401],
    [
      'a file with a foreign origin',
      () => get('/api/file', { origin: 'https://evil.example' }),
      403,
    ],
    ['a POST to the page', () => ({ method: 'POST', path: '/', body: '{}' }), 405],
    ['a file that is not in the list', () => ({ path: '/assets/other.js' }), 404],
    ['a path out of the assets', () => ({ path: '/assets/../../package.json' }), 404],
    ['an encoded path', () => ({ path: '/assets/%2e%2e/%2e%2e/package.json' }), 404],
    ['an absolute path', () => ({ path: '/assets//etc/passwd' }), 404],
    ['the compressed form by its name', () => ({ path: `${ASSET}.br` }), 404],
  ])('%s', async (_what, asked, status) => {
    opened = 0
    const answer = await page.ask(asked())
    const hasNoHint = [400, 404, 413].includes(status)
    expect([answer.status, opened]).toEqual([status, 0])
    expect(JSON.parse(answer.body)).toEqual({
      error: {
        code: expect.stringMatching(/^(?:ACCESS_REFUSED|BAD_INPUT)$/),
        message: expect.any(String),
        hint: hasNoHint ? null : HINT,
      },
    })
  })
})

test('no answer has a header for other origins, and all have the headers for safety', async () => {
  const asked: readonly Asked[] = [
    start(own()),
    start(own({ origin: 'https://evil.example' })),
    get('/api/file?project=x&ref=y&path=z'),
    { path: '/' },
    { path: ASSET },
    { path: '/assets/none.js' },
  ]
  for (const one of asked) {
    const { headers } = await page.ask(one)
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([])
    expect(headers).toMatchObject({
      'content-security-policy':
        "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types savestate",
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'cache-control': one.path === ASSET ? 'max-age=31536000, immutable' : 'no-store',
    })
  }
})

describe('a path outside the projects', () => {
  test.each<[string, (known: string) => string]>([
    ['a folder above', (known) => known.slice(0, known.lastIndexOf('/'))],
    ['a folder inside', (known) => `${known}/sub`],
    ['another form of the same path', (known) => `${known}/.`],
    ['a folder of the system', () => '/etc'],
    ['the root', () => '/'],
    ['the store', () => page.s.home],
  ])('%s is not a project', async (_what, path) => {
    const project = path(page.s.project)
    expect(await page.refusal('rows', { project, limit: 1 })).toBe('403 PROJECT_REFUSED')
    expect(await page.refusal('start', { project })).toBe('403 PROJECT_REFUSED')
    expect(await page.refusal('plan', { project, kind: 'undo' })).toBe('403 PROJECT_REFUSED')
    const [row] = (await page.call('start', {})).rows
    const step = { kind: 'undoStep', ref: row?.id ?? '' } as const
    expect(await page.refusal('plan', { project, ...step })).toBe('403 PROJECT_REFUSED')
  })

  test.each(['../outside.txt', '/etc/passwd', 'sub/../../x', 'a\0b', '..'])(
    'the file %j of a checkpoint is refused',
    async (path) => {
      const [row] = (await page.call('start', {})).rows
      const at = { project: page.s.project, ref: row?.id ?? '' }
      const query = new URLSearchParams({ ...at, path }).toString()
      expect(await page.ask(get(`/api/file?${query}`))).toMatchObject({ status: 400 })
      expect(await page.refusal('folder', { ...at, path })).toBe('400 BAD_INPUT')
      expect(await page.refusal('patch', { ...at, with: 'previous', path })).toBe('400 BAD_INPUT')
      expect(await page.refusal('history', { project: at.project, path, limit: 1 })).toBe(
        '400 BAD_INPUT',
      )
    },
  )
})

test('a file is a download, whatever it contains', async () => {
  const name = 'x";\r\nSet-Cookie: a=b\'().html'
  page.s.write({ [name]: '<script>alert(1)</script>' })
  const { id } = await page.project.save()
  const query = new URLSearchParams({ project: page.s.project, ref: id, path: name }).toString()
  const answer = await page.ask(get(`/api/file?${query}`))
  expect(answer).toMatchObject({ status: 200, body: '<script>alert(1)</script>' })
  expect(answer.headers).toMatchObject({
    'content-type': 'application/octet-stream',
    'content-disposition': expect.stringMatching(/^attachment; filename\*=UTF-8''[\w%.-]+$/),
  })
  expect(answer.headers['set-cookie']).toBeUndefined()
})

test('a file of the folder can be read only if a checkpoint would have it', async () => {
  page.s.write({ 'now.txt': 'then\n' })
  const { id } = await page.project.save()
  page.s.write({ 'now.txt': 'now\n', '.env': 'SECRET=1\n', '.gitignore': '*.log\n', 'a.log': 'x' })
  const read = async (path: string) => {
    const at = { project: page.s.project, ref: id, path, now: '' }
    const { status, body } = await page.ask(get(`/api/file?${new URLSearchParams(at).toString()}`))
    return status === 200 ? body : status
  }
  expect(await read('now.txt')).toBe('now\n')
  for (const path of ['.env', 'a.log', '.git/config', 'nowhere', '../outside.txt', '/etc/passwd'])
    expect([path, await read(path)]).toEqual([path, 400])
})
