// Authorizes HTTP requests. Any user of the machine, and any web page in a browser on it, can reach the port.
import { hash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

export type Refusal = { readonly status: number; readonly message: string; readonly hint: string }

export function checkHeaders(
  { host, origin, authorization }: IncomingHttpHeaders,
  { port, token }: { readonly port: number; readonly token: string },
): Refusal | undefined {
  // DNS rebinding: a page whose host name resolves to 127.0.0.1 sends that name.
  if (host === undefined || !namesFor(port).includes(host.toLowerCase()))
    return {
      status: 403,
      message: 'The Host header is wrong',
      hint: `It must be 127.0.0.1:${port} or localhost:${port}.`,
    }
  if (origin !== undefined)
    return {
      status: 403,
      message: 'Requests from web pages are not allowed',
      hint: 'Send the request without an Origin header.',
    }
  if (!isToken(authorization, token))
    return {
      status: 401,
      message: 'The token is missing or wrong',
      hint: 'Send `Authorization: Bearer <token>`. It is in daemon/http.json of the store.',
    }
  return undefined
}

function namesFor(port: number): readonly string[] {
  return [`127.0.0.1:${port}`, `localhost:${port}`]
}

/** In constant time. */
function isToken(authorization: string | undefined, token: string): boolean {
  const given = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1] ?? ''
  return timingSafeEqual(digest(given), digest(token))
}

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer')
}
