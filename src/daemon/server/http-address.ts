// The port and the token for HTTP. Agents have both in their settings, so all daemons of the store use the same ones, until
// the last of these settings is removed.
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import type { Server } from 'node:http'
import { join } from 'node:path'
import { fieldsOf, tryParseJson } from '../../base/index.js'
import type { DaemonLock } from '../../internal.js'

const HTTP_FILE = 'http.json'
const LOOPBACK = '127.0.0.1'
const TOKEN = /^[0-9a-f]{64}$/

type HttpAddress = { readonly port: number | undefined; readonly token: string }

/** Undefined if no daemon has recorded one. */
export function readHttpAddress(home: string): HttpAddress | undefined {
  const path = join(home, 'daemon', HTTP_FILE)
  return existsSync(path) ? parseHttpAddress(readFileSync(path, 'utf8')) : undefined
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

function tryListen(server: Server, port: number): Promise<boolean> {
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

function parseHttpAddress(text: string | undefined): HttpAddress | undefined {
  const { port, token } = fieldsOf(tryParseJson(text ?? ''))
  if (typeof token !== 'string' || !TOKEN.test(token)) return undefined
  const isPort = typeof port === 'number' && Number.isInteger(port) && port > 0 && port < 65_536
  return { port: isPort ? port : undefined, token }
}
