// One PostgreSQL server per test run, started by the first test that asks for it. The test runner's own process starts it, so that it ends
// with the run; the processes of the tests ask over a socket.
import { createServer, createConnection, type Server } from 'node:net'
import { join } from 'node:path'
import process from 'node:process'
import { sharedFolder } from '../browser/shared-folder.js'
import { EMBEDDED } from './binaries.js'
import { type PostgresServer, startServer } from './server.js'

const SOCKET = 'postgres.sock'

/** Called by the test runner before its processes start. Returns what runs after the last one. */
export default async function setup(): Promise<() => Promise<void>> {
  let starting: Promise<PostgresServer> | undefined
  const listener: Server = createServer((socket) => {
    starting ??= startServer()
    starting.then(
      ({ url }) => socket.end(JSON.stringify({ url })),
      (error: unknown) => socket.end(JSON.stringify({ error: String(error) })),
    )
    // The process that asked may be gone.
    socket.on('error', () => socket.destroy())
  })
  listener.listen(join(sharedFolder(), SOCKET))
  await new Promise((resolve) => listener.once('listening', resolve))
  return async () => {
    await new Promise((resolve) => listener.close(resolve))
    const server = await starting?.catch(() => undefined)
    await server?.dispose()
  }
}

/** The URL of a superuser. */
export async function sharedServerUrl(): Promise<string> {
  const given = process.env['SAVESTATE_TEST_POSTGRES']
  if (given !== undefined && given !== '' && given !== EMBEDDED) return given
  const socket = createConnection(join(sharedFolder(), SOCKET))
  let text = ''
  for await (const chunk of socket) text += String(chunk)
  const { url, error } = JSON.parse(text) as { readonly url?: string; readonly error?: string }
  if (url === undefined) throw new Error(error)
  return url
}
