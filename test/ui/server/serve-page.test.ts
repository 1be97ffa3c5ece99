// The server apart from its checks: files of the page, compression, events, and its end.
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { createInterface } from 'node:readline'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SavestateError } from '../../../src/index.js'
import { StaticFiles } from '../../../src/ui/server/static-files.js'
import { servePage } from '../../../src/ui/server/serve-page.js'
import { ASSET, openPage, ownHeaders, type Page } from '../page-helpers.js'

let page: Page

beforeAll(async () => {
  page = await openPage({ 'a.txt': 'one\n' })
  for (let n = 0; n < 30; n += 1) {
    page.s.write({ 'a.txt': `${n}\n` })
    await page.project.save({ reason: `step ${n}` })
  }
})
afterAll(() => page[Symbol.asyncDispose]())

test('every address of the page shows it, and an asset is cached forever', async () => {
  const index = '<!doctype html><title>Savestate</title>\n'
  for (const path of ['/', '/c/abc?project=%2Fx', '/index.html', '/apix'])
    expect(await page.ask({ path })).toMatchObject({
      status: 200,
      body: index,
      headers: { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' },
    })
  expect(await page.ask({ path: ASSET })).toMatchObject({
    status: 200,
    body: 'console.log("page")\n',
    headers: { 'content-type': 'text/javascript; charset=utf-8', vary: 'Accept-Encoding' },
  })
  expect(await page.ask({ method: 'HEAD', path: ASSET })).toMatchObject({ status: 200, body: '' })
})

test('the compressed form of a file is sent to browsers that take it', async () => {
  const packed = await bytesOf(page, { path: ASSET, headers: { 'accept-encoding': 'gzip, br' } })
  expect(packed.headers['content-encoding']).toBe('br')
  expect(brotliDecompressSync(packed.bytes).toString()).toBe('console.log("page")\n')
  const plain = await bytesOf(page, { path: ASSET, headers: { 'accept-encoding': 'br;q=0, *' } })
  expect(plain.headers['content-encoding']).toBeUndefined()
})

test.each([
  ['br', 'gzip, deflate, br', brotliDecompressSync],
  ['gzip', 'gzip', gunzipSync],
] as const)(
  'a large answer is sent as %s, a small one as it is',
  async (name, accepted, unpack) => {
    const headers = { ...ownHeaders(page), 'accept-encoding': accepted }
    const post = { method: 'POST', headers } as const
    const large = await bytesOf(page, { ...post, path: '/api/start', body: '{}' })
    expect(large.headers['content-encoding']).toBe(name)
    expect(JSON.parse(unpack(large.bytes).toString()).rows).toHaveLength(30)
    const body = JSON.stringify({ project: page.s.project })
    const small = await bytesOf(page, { ...post, path: '/api/sessions', body })
    expect(small.headers['content-encoding']).toBeUndefined()
    expect(JSON.parse(small.bytes.toString())).toEqual({ sessions: [] })
  },
)

test('a save by anyone sends one event', async () => {
  await using events = await openEvents(page)
  expect(await events.next()).toEqual({ type: 'alive' })
  const other = await page.s.open()
  page.s.write({ 'a.txt': 'changed by another process\n' })
  await (await other.project(page.s.project)).save()
  expect(await events.next()).toEqual({ type: 'changed' })
})

test('a page hears regularly that the server is alive', async () => {
  await using own = await openPage({}, { aliveMs: 20 })
  await using events = await openEvents(own)
  for (let n = 0; n < 3; n += 1) expect(await events.next()).toEqual({ type: 'alive' })
})

test('it ends when no page is open any more', async () => {
  await using own = await openPage({}, { idleMs: 100 })
  const events = await openEvents(own)
  await events[Symbol.asyncDispose]()
  expect(await own.ended).toBe('idle')
  await expect(own.ask({ path: '/' })).rejects.toThrow('ECONNREFUSED')
})

test('it ends at once with its signal, although a page is open', async () => {
  await using own = await openPage()
  const events = await openEvents(own)
  own.end()
  expect(await own.ended).toBe('signal')
  await events.closed
})

test('the first request with the token says that a page is there', async () => {
  let pages = 0
  await using own = await openPage({}, { onPage: () => (pages += 1) })
  await own.ask({ path: '/' })
  await own.ask({ path: '/api/start' })
  expect(pages).toBe(0)
  await own.call('start', {})
  await own.call('start', {})
  expect(pages).toBe(1)
})

test('a port in use is reported with what to do', async () => {
  const ending = new AbortController()
  const error = await servePage({
    folder: `${page.s.folder}/page`,
    port: page.port,
    isReadOnly: false,
    context: () => Promise.reject(new Error('not asked for')),
    report: () => undefined,
    signal: ending.signal,
  }).catch((one: unknown) => one)
  expect(error).toBeInstanceOf(SavestateError)
  expect(error).toMatchObject({
    code: 'BAD_INPUT',
    message: `The port ${page.port} is in use`,
    hint: 'Choose another one with --port, or leave it out: then any free port is used.',
  })
})

test('missing files of the page are reported', () => {
  expect(() => new StaticFiles('/nowhere')).toThrow('The files of the page are missing in /nowhere')
})

test('an error that is a bug is reported on the terminal, and answered', async () => {
  await using own = await openPage()
  own.store.projects = () => Promise.reject(new TypeError('a bug'))
  expect(await own.refusal('start', {})).toBe('500 INTERNAL')
  expect(own.reports).toEqual([new TypeError('a bug')])
})

type Bytes = { readonly headers: IncomingMessage['headers']; readonly bytes: Buffer }

async function bytesOf(
  { port }: Page,
  {
    method = 'GET',
    path,
    headers,
    body,
  }: {
    readonly method?: string
    readonly path: string
    readonly headers: Readonly<Record<string, string>>
    readonly body?: string
  },
): Promise<Bytes> {
  const asking = request({ host: '127.0.0.1', port, method, path, headers }).end(body)
  const [response] = (await once(asking, 'response')) as [IncomingMessage]
  return { headers: response.headers, bytes: Buffer.concat(await response.toArray()) }
}

async function openEvents(of: Page) {
  const { authorization } = ownHeaders(of)
  const asking = request({
    host: '127.0.0.1',
    port: of.port,
    path: '/api/events',
    headers: { authorization, 'sec-fetch-site': 'same-origin' },
  }).end()
  const [response] = (await once(asking, 'response')) as [IncomingMessage]
  expect([response.statusCode, response.headers['content-type']]).toEqual([
    200,
    'application/x-ndjson',
  ])
  const seen: { readonly type: string }[] = []
  // Leaving is an error of the response.
  const closed = new Promise<void>((resolve) =>
    response.on('error', () => undefined).once('close', resolve),
  )
  const lines = createInterface(response).on('error', () => undefined)
  lines.on('line', (line) => seen.push(JSON.parse(line)))
  let read = 0
  return {
    seen,
    closed,
    async next() {
      while (seen.length <= read) await once(lines, 'line')
      read += 1
      return seen[read - 1]
    },
    async [Symbol.asyncDispose]() {
      asking.destroy()
      await closed
    },
  }
}
