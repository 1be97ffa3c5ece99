// Decides whether a request may come in. Any user of the machine can reach the port, and so can any web page in a browser on it.
// docs/internals/ui.md#security has the table of risks.
import { hash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { ErrorText } from '../../internal.js'

export type Refusal = ErrorText & { readonly status: number }

export type Gate = { readonly port: number; readonly token: string }

type Asked = Pick<IncomingMessage, 'method' | 'headers'>

/** For every request: DNS rebinding sends the name of the foreign page, so the address must be exactly ours. */
export function refuseHost({ headers }: Asked, { port }: Gate): Refusal | undefined {
  if (headers.host === `127.0.0.1:${port}`) return undefined
  return refused(403, 'The Host header is wrong', OWN_ADDRESS)
}

/** For every request but those for the files of the page. */
export function refuseForeign(
  { method, headers }: Asked,
  { port, token }: Gate,
): Refusal | undefined {
  const { origin } = headers
  if (headers['sec-fetch-site'] !== 'same-origin')
    return refused(403, 'The request does not come from the page of this server', OWN_ADDRESS)
  // Browsers send no Origin with a GET to the same origin.
  const isOwn = origin === `http://127.0.0.1:${port}`
  if (!isOwn && (method === 'POST' || origin !== undefined))
    return refused(403, 'The Origin header is wrong', OWN_ADDRESS)
  const given = /^Bearer (\S+)$/.exec(headers.authorization ?? '')?.[1] ?? ''
  if (timingSafeEqual(digest(given), digest(token))) return undefined
  return refused(401, 'The token is missing or wrong', OWN_ADDRESS)
}

/** A form of another page can send every type but this one without asking first. */
export function refuseType({ headers }: Asked): Refusal | undefined {
  const [type = ''] = (headers['content-type'] ?? '').split(';')
  if (type.trim().toLowerCase() === 'application/json') return undefined
  return refused(415, 'The body must be JSON', 'Send Content-Type: application/json.')
}

const OWN_ADDRESS = 'Open the address that `savestate ui` printed.'

export function refused(status: number, message: string, hint: string | null): Refusal {
  return { status, code: 'ACCESS_REFUSED', message, hint }
}

/** The comparison takes equal time for texts of every length. */
function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer')
}
