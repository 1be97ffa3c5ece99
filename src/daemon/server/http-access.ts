// The port and the token for HTTP. Agents have both in their settings, so all daemons of the store use the same ones, until
// the last of these settings is removed. Any user of the machine, and any web page in a browser on it, can reach the port.
import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import type { IncomingHttpHeaders, Server } from 'node:http'
import { join } from 'node:path'
import { fieldsOf, hasCode, readIfExists, tryParseJson } from '../../base/index.js'
import type { DaemonLock } from '../../internal.js'

const HTTP_FILE = 'http.json'
const LOOPBACK = '127.0.0.1'
const TOKEN = /^[0-9a-f]{64}$/

type HttpAddress = { readonly port: number | undefined; readonly token: string }

/** Undefined if no daemon has recorded one. */
export function readHttpAddress(home: string): HttpAddress | undefined {
  return parseHttpAddress(readIfExists(join(home, 'daemon', HTTP_FILE))?.toString())
}

/** The next daemon with HTTP gets a new port and token. A running one keeps the old ones. */
export function forgetHttpAddress(home: string): void {
  rmSync(join(home, 'daemon', HTTP_FILE), { force: true })
}

/** The recorded address; a new one if there is none, or if it is malformed. */
export function httpAddress(lock: DaemonLock): HttpAddress {
  const recorded = parseHttpAddress(lock.read(HTTP_FILE))
  return recorded ?? { port: undefined, token: randomBytes(32).toString('hex') }
}

/** Listens on the recorded port, or on another one if that is in use. Returns the port. */
export async function listenOnLoopback(
  server: Server,
  { port, token }: HttpAddress,
  lock: DaemonLock,
): Promise<number> {
  const isKept = port !== undefined && (await tryListen(server, port))
  if (!isKept) await tryListen(server, 0)
  const address = server.address()
  const actual = typeof address === 'object' && address !== null ? address.port : 0
  if (port === undefined) lock.write(HTTP_FILE, `${JSON.stringify({ port: actual, token })}\n`)
  return actual
}

async function tryListen(server: Server, port: number): Promise<boolean> {
  try {
    await once(server.listen({ host: LOOPBACK, port }), 'listening')
    return true
  } catch (error) {
    if (port !== 0 && hasCode(error, 'EADDRINUSE', 'EACCES')) return false
    throw error
  }
}

function parseHttpAddress(text: string | undefined): HttpAddress | undefined {
  const { port, token } = fieldsOf(tryParseJson(text))
  if (typeof token !== 'string' || !TOKEN.test(token)) return undefined
  const isPort = typeof port === 'number' && Number.isInteger(port) && port > 0 && port < 65_536
  return { port: isPort ? port : undefined, token }
}

/** Why the request is refused; undefined if it is authorized. */
export function checkHeaders(
  { host, origin, authorization }: IncomingHttpHeaders,
  { port, token }: { readonly port: number; readonly token: string },
): { readonly status: number; readonly message: string; readonly hint: string } | undefined {
  const names = [`127.0.0.1:${port}`, `localhost:${port}`]
  // DNS rebinding: a page whose host name resolves to 127.0.0.1 sends that name.
  if (host === undefined || !names.includes(host.toLowerCase()))
    return {
      status: 403,
      message: 'The Host header is wrong',
      hint: `It must be ${names.join(' or ')}.`,
    }
  if (origin !== undefined)
    return {
      status: 403,
      message: 'Requests from web pages are not allowed',
      hint: 'Send the request without an Origin header.',
    }
  const given = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1] ?? ''
  const digest = (text: string) => hash('sha256', text, 'buffer')
  if (!timingSafeEqual(digest(given), digest(token)))
    return {
      status: 401,
      message: 'The token is missing or wrong',
      hint: 'Send `Authorization: Bearer <token>`. It is in daemon/http.json of the store.',
    }
  return undefined
}
