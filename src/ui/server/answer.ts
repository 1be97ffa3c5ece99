// Sends an answer: the headers that every answer has, and compression.
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { ErrorText } from '../../internal.js'

export type Answer = {
  readonly status: number
  readonly headers: OutgoingHttpHeaders
  readonly body: Buffer
}

/** `trusted-types savestate`: the page needs one policy, for the address of its worker. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self'",
  "img-src 'self' blob:",
  "connect-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types savestate',
].join('; ')

export const SECURITY_HEADERS: OutgoingHttpHeaders = {
  'Content-Security-Policy': CONTENT_SECURITY_POLICY,
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
}

const NO_STORE = { 'Cache-Control': 'no-store' }
/** Smaller answers fit into one packet anyway. */
const MIN_COMPRESSED_BYTES = 1024
/** A refused client may be sending more: read nothing more from it. */
const CLOSING: readonly number[] = [401, 403, 413, 415]

export function jsonAnswer(status: number, value: unknown): Answer {
  return {
    status,
    headers: { 'Content-Type': 'application/json', ...NO_STORE },
    body: Buffer.from(JSON.stringify(value)),
  }
}

export function failureAnswer(
  status: number,
  { code, message, hint }: Omit<ErrorText, 'code'> & { readonly code: string },
): Answer {
  return jsonAnswer(status, { error: { code, message, hint } })
}

export async function send(
  request: IncomingMessage,
  response: ServerResponse,
  answer: Answer,
): Promise<void> {
  const { status, headers, body } = await compress(request, answer)
  response.writeHead(status, {
    ...SECURITY_HEADERS,
    ...headers,
    'Content-Length': body.length,
    ...(CLOSING.includes(status) ? { Connection: 'close' } : {}),
  })
  response.end(request.method === 'HEAD' ? undefined : body)
}

/** With the fastest level: the reader is on the same machine, and only large answers gain from it. */
async function compress(request: IncomingMessage, answer: Answer): Promise<Answer> {
  const { headers, body } = answer
  if (headers['Content-Type'] !== 'application/json' || body.length < MIN_COMPRESSED_BYTES)
    return answer
  const encoding = (['br', 'gzip'] as const).find((name) => accepts(request, name))
  if (encoding === undefined) return answer
  const params = { [constants.BROTLI_PARAM_QUALITY]: 1 }
  const compressed =
    encoding === 'br'
      ? await promisify(brotliCompress)(body, { params })
      : await promisify(gzip)(body, { level: 1 })
  return { ...answer, headers: { ...headers, 'Content-Encoding': encoding }, body: compressed }
}

export function accepts({ headers }: IncomingMessage, encoding: 'br' | 'gzip'): boolean {
  const accepted = String(headers['accept-encoding'] ?? '').split(',')
  return accepted.some(
    (one) => one.split(';')[0]?.trim() === encoding && !/q=0(?:\.0*)?$/.test(one),
  )
}
