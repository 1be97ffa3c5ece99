// The port and the token for HTTP. Agents have both in their settings, so they stay the same from one daemon to the next
// until the last of these settings is removed.
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { DaemonPlace } from '../../internal.js'

export const HTTP_FILE = 'http.json'
const LOOPBACK = '127.0.0.1'
const TOKEN = /^[0-9a-f]{64}$/

export type HttpAddress = { readonly port: number | undefined; readonly token: string }

/** As the daemon recorded it; undefined if it has not. */
export function readHttpAddress(home: string): HttpAddress | undefined {
  const path = join(home, 'daemon', HTTP_FILE)
  return existsSync(path) ? parsed(readFileSync(path, 'utf8')) : undefined
}

/** The next daemon with HTTP gets a new port and a new token. One that is running keeps the old ones. */
export function forgetHttpAddress(home: string): void {
  rmSync(join(home, 'daemon', HTTP_FILE), { force: true })
}

/** As recorded; new if it is not recorded or malformed. */
export function httpAddress(place: DaemonPlace): HttpAddress {
  const recorded = parsed(place.read(HTTP_FILE))
  return recorded ?? { port: undefined, token: randomBytes(32).toString('hex') }
}

/** Listens on the recorded port, or on another one if that is in use. Returns the port. */
export async function listenOnLoopback(
  server: Server,
  { port, token }: HttpAddress,
  place: DaemonPlace,
): Promise<number> {
  const isKept = port !== undefined && (await isListening(server, port))
  if (!isKept) await isListening(server, 0)
  const address = server.address()
  const actual = isInfo(address) ? address.port : 0
  if (port === undefined) place.write(HTTP_FILE, `${JSON.stringify({ port: actual, token })}\n`)
  return actual
}

function isListening(server: Server, port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const onError = (error: Error & { readonly code?: string }) => {
      const isTaken = error.code === 'EADDRINUSE' || error.code === 'EACCES'
      if (isTaken && port !== 0) resolve(false)
      else reject(error)
    }
    server.once('error', onError)
    server.listen({ host: LOOPBACK, port }, () => {
      server.off('error', onError)
      resolve(true)
    })
  })
}

function isInfo(address: string | AddressInfo | null): address is AddressInfo {
  return typeof address === 'object' && address !== null
}

function parsed(text: string | undefined): HttpAddress | undefined {
  if (text === undefined) return undefined
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
  if (typeof json !== 'object' || json === null) return undefined
  const values = new Map<string, unknown>(Object.entries(json))
  const [port, token] = [values.get('port'), values.get('token')]
  if (typeof token !== 'string' || !TOKEN.test(token)) return undefined
  const isPort = typeof port === 'number' && Number.isInteger(port) && port > 0 && port < 65_536
  return { port: isPort ? port : undefined, token }
}
