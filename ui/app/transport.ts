// Sends the requests of src/ui/api.ts. The token arrives in the fragment of the address and moves to sessionStorage at once, so that
// it is neither in the history nor sent by the browser itself.
import type { Failure, Input, Method, Output, PageEvent } from '../../src/ui/api.js'

const TOKEN = 'savestate-token'

export class RequestError extends Error {
  override readonly name = 'RequestError'
  constructor(
    /** A code of Savestate, or SERVER_GONE or NO_TOKEN. */
    readonly code: string,
    message: string,
    readonly hint: string | null,
  ) {
    super(message)
  }
}

/** Called once, before the first request. */
export function takeToken(): void {
  const given = location.hash.slice(1)
  if (!/^[\w-]{20,}$/.test(given)) return
  sessionStorage.setItem(TOKEN, given)
  history.replaceState(null, '', location.pathname + location.search)
}

/** The address of a new server differs from that of the old one only in its fragment, so the browser does not load the page again. */
export function followToken(): void {
  window.addEventListener('hashchange', () => {
    const before = sessionStorage.getItem(TOKEN)
    takeToken()
    if (sessionStorage.getItem(TOKEN) !== before) location.reload()
  })
}

/** `file` is answered with base64. */
type Answering = (method: Method | 'file', input: Readonly<Record<string, unknown>>) => unknown
let answering: Answering | undefined

/** For a page without a server: all requests are answered by this function. */
export function answerFrom(given: Answering): void {
  answering = given
}

export async function call<Name extends Method>(
  method: Name,
  input: Input<Name>,
  options: { readonly signal?: AbortSignal | undefined } = {},
): Promise<Output<Name>> {
  if (answering !== undefined) return answering(method, input) as Output<Name>
  const answer = await request(`/api/${method}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(input),
    signal: options.signal ?? null,
  })
  return (await readBody(answer.json(), options.signal)) as Output<Name>
}

type FileOf = {
  readonly project: string
  readonly ref: string
  readonly path: string
  /** Reads the file of the folder. */
  readonly now?: string
}

/** The bytes of one file of a checkpoint. */
export async function fetchFile(
  of: FileOf,
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): Promise<Blob> {
  const { blob } = await fetchFileUpTo(of, { signal, maxBytes: Infinity })
  if (blob === undefined) throw new TypeError(of.path)
  return blob
}

/** Without its bytes if there are more than `maxBytes`: the browser stops reading then. */
export async function fetchFileUpTo(
  of: FileOf,
  options: { readonly signal?: AbortSignal | undefined; readonly maxBytes: number },
): Promise<{ readonly sizeBytes: number; readonly blob: Blob | undefined }> {
  if (answering !== undefined) {
    const bytes = atob(String(answering('file', of)))
    const blob = new Blob([Uint8Array.from(bytes, (one) => one.charCodeAt(0))])
    return { sizeBytes: blob.size, blob }
  }
  const answer = await request(`/api/file?${new URLSearchParams(of).toString()}`, {
    signal: options.signal ?? null,
  })
  const sizeBytes = Number(answer.headers.get('Content-Length'))
  if (sizeBytes > options.maxBytes) {
    await answer.body?.cancel()
    return { sizeBytes, blob: undefined }
  }
  return { sizeBytes, blob: await readBody(answer.blob(), options.signal) }
}

/** Ends when the server ends or the signal is aborted. EventSource cannot send the token. */
export async function* events(signal: AbortSignal): AsyncGenerator<PageEvent> {
  const answer = await request('/api/events', { signal })
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  try {
    while (reader !== undefined) {
      const { value, done } = await reader.read()
      if (done) return
      const lines = (rest + value).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) yield JSON.parse(line) as PageEvent
    }
  } finally {
    // The caller may stop early. Browsers allow six connections to a server, so an abandoned one must end.
    await reader?.cancel()
  }
}

/** A server that ends in the middle of its answer is gone, too. */
async function readBody<Value>(
  body: Promise<Value>,
  signal: AbortSignal | undefined,
): Promise<Value> {
  try {
    return await body
  } catch (error) {
    if (signal?.aborted === true || !(error instanceof TypeError)) throw error
    throw serverGone()
  }
}

async function request(path: string, init: RequestInit): Promise<Response> {
  const token = sessionStorage.getItem(TOKEN)
  if (token === null)
    throw new RequestError(
      'NO_TOKEN',
      'This page was opened without its key',
      'Open the address that `savestate ui` printed in the terminal.',
    )
  const headers = new Headers(init.headers)
  headers.set('Authorization', `Bearer ${token}`)
  let answer: Response
  try {
    answer = await fetch(path, { ...init, headers })
  } catch (error) {
    if (init.signal?.aborted === true) throw error
    throw serverGone()
  }
  if (answer.ok) return answer
  const { error } = (await answer.json()) as Failure
  throw new RequestError(error.code, error.message, error.hint)
}

export function serverGone(): RequestError {
  const hint = 'Start it again in the terminal: savestate ui'
  return new RequestError('SERVER_GONE', 'Savestate does not answer', hint)
}
