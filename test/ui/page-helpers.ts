// A real server of the page over a real store, with requests that set every header themselves, as an attacker would.
import { mkdirSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { brotliCompressSync } from 'node:zlib'
import type { Input, Method, Output } from '../../src/ui/api.js'
import { openPageContext } from '../../src/ui/methods/index.js'
import { servePage, type ServePageOptions } from '../../src/ui/server/serve-page.js'
import type { Project, Store } from '../../src/index.js'
import { type FileSpec, type Scratch, scratch } from '../support/scratch.js'

export type Asked = {
  readonly method?: string
  readonly path: string
  /** Undefined leaves a header out. */
  readonly headers?: Readonly<Record<string, string | undefined>>
  readonly body?: string
}
export type Answered = {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
}

export type Page = AsyncDisposable & {
  readonly s: Scratch
  readonly store: Store
  readonly project: Project
  readonly port: number
  readonly token: string
  readonly ended: Promise<'signal' | 'idle'>
  readonly reports: readonly unknown[]
  /** With only the headers that are given, and the right Host unless it is given too. */
  ask(asked: Asked): Promise<Answered>
  /** A request as the page sends it; fails unless the status is 200. */
  call<Name extends Method>(name: Name, input: Input<Name>): Promise<Output<Name>>
  /** The same for a request that fails: `409 PLAN_STALE`. */
  refusal<Name extends Method>(name: Name, input: Input<Name>): Promise<string>
  end(): void
}

export const ASSET = '/assets/main-abc123.js'
const SCRIPT = 'console.log("page")\n'

export async function openPage(
  files: Readonly<Record<string, FileSpec>> = {},
  {
    prepare = async () => undefined,
    ...options
  }: Partial<Pick<ServePageOptions, 'isReadOnly' | 'idleMs' | 'aliveMs' | 'onPage'>> & {
    /** Called before the store is opened for the page. */
    readonly prepare?: (s: Scratch) => Promise<void>
  } = {},
): Promise<Page> {
  const s = await scratch({ files })
  await prepare(s)
  const store = await s.open()
  const project = await store.project(s.project)
  const { isReadOnly = false } = options
  const ending = new AbortController()
  const reports: unknown[] = []
  const context = openPageContext({
    store,
    version: '1.2.3',
    isReadOnly,
    own: project,
    jsonOf: (value) => value ?? null,
    program: { programPath: '/nowhere/savestate', nodePath: process.execPath },
    environment: { HOME: join(s.folder, 'user') },
  })
  const { url, ended } = await servePage({
    ...options,
    folder: writePage(s.folder),
    port: 0,
    isReadOnly,
    context: async () => context,
    report: (error) => reports.push(error),
    signal: ending.signal,
  })
  const { port: portText, hash } = new URL(url)
  const [port, token] = [Number(portText), hash.slice(1)]
  const ask = (asked: Asked) => send(port, asked)
  const post = (name: string, input: unknown) =>
    ask({
      method: 'POST',
      path: `/api/${name}`,
      headers: ownHeaders({ port, token }),
      body: JSON.stringify(input),
    })
  return {
    s,
    store,
    project,
    port,
    token,
    ended,
    reports,
    ask,
    async call(name, input) {
      const { status, body } = await post(name, input)
      if (status !== 200) throw new Error(`${name}: ${status} ${body}`)
      return JSON.parse(body)
    },
    async refusal(name, input) {
      const { status, body } = await post(name, input)
      return `${status} ${JSON.parse(body).error?.code}`
    },
    end: () => ending.abort(),
    async [Symbol.asyncDispose]() {
      ending.abort()
      await ended
      await s.dispose()
    },
  }
}

/** The headers of a request that the page itself sends. */
export function ownHeaders({ port, token }: { readonly port: number; readonly token: string }) {
  return {
    'content-type': 'application/json',
    'sec-fetch-site': 'same-origin',
    origin: `http://127.0.0.1:${port}`,
    authorization: `Bearer ${token}`,
  }
}

function writePage(folder: string): string {
  const page = join(folder, 'page')
  mkdirSync(join(page, 'assets'), { recursive: true })
  for (const [name, content] of [
    ['index.html', '<!doctype html><title>Savestate</title>\n'],
    [ASSET, SCRIPT],
  ] as const) {
    writeFileSync(join(page, name), content)
    writeFileSync(join(page, `${name}.br`), brotliCompressSync(content))
  }
  return page
}

export function send(port: number, { method = 'GET', path, headers = {}, body }: Asked) {
  return new Promise<Answered>((resolve, reject) => {
    const given = Object.entries(headers).filter(([, value]) => value !== undefined)
    const asking = request(
      { host: '127.0.0.1', port, method, path, headers: Object.fromEntries(given) as never },
      (response) => {
        text(response).then(
          (content) =>
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers,
              body: content,
            }),
          reject,
        )
      },
    )
    asking.on('error', reject)
    asking.end(body)
  })
}
