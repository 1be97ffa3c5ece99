// The server from its start to its end. It listens before the store is open, so that the browser can load the page meanwhile.
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { hasCode } from '../../base/index.js'
import { SavestateError } from '../../internal.js'
import type { PageContext } from '../methods/method.js'
import { EventStreams } from './events.js'
import { createPageServer } from './http-server.js'
import { IdleEnd } from './idle-end.js'
import { RunningRestores } from './running-restores.js'
import { StaticFiles } from './static-files.js'

export type ServePageOptions = {
  /** The folder with index.html and its assets. */
  readonly folder: string
  /** 0 for any free port. */
  readonly port: number
  readonly isReadOnly: boolean
  readonly context: () => Promise<PageContext>
  /** Called for the first request of a page with the token. */
  readonly onPage?: () => void
  /** Called if the server is to end while a restore is running. It ends after the restore. */
  readonly onWait?: () => void
  /** For errors that are bugs. */
  readonly report: (error: unknown) => void
  /** Ends the server. */
  readonly signal: AbortSignal
  readonly idleMs?: number
  readonly aliveMs?: number
}

export type ServedPage = {
  /** With the token in its fragment. */
  readonly url: string
  /** Resolves when the server has ended: by the signal, or because no page was open for `idleMs`. */
  readonly ended: Promise<'signal' | 'idle'>
}

const LOOPBACK = '127.0.0.1'
const IDLE_MS = 15 * 60_000
const ALIVE_MS = 15_000
/** How long running requests may take when the server ends. */
const FORCE_MS = 5000

/** Returns when it listens. Throws BAD_INPUT if the port is in use. */
export async function servePage(options: ServePageOptions): Promise<ServedPage> {
  const { signal, context, report } = options
  const ending = new AbortController()
  const events = new EventStreams({
    aliveMs: options.aliveMs ?? ALIVE_MS,
    watch: async (until) => {
      const { store } = await context()
      for await (const _change of store.changes({ signal: until })) events.notifyChanged()
    },
    report,
  })
  const idle = new IdleEnd(options.idleMs ?? IDLE_MS, () => ending.abort('idle'))
  const token = randomBytes(32).toString('base64url')
  const files = new StaticFiles(options.folder)
  const onPage = onFirstCall(options.onPage ?? (() => undefined))
  const { isReadOnly } = options
  const restores = new RunningRestores()
  const methods = () => import('../methods/index.js')
  const server = createPageServer({
    token,
    isReadOnly,
    files,
    events,
    idle,
    restores,
    methods,
    context,
    onPage,
    report,
  })
  const port = await listen(server, options.port)
  idle.touch()
  const ended = (async () => {
    const stop = AbortSignal.any([signal, ending.signal])
    if (!stop.aborted) await once(stop, 'abort')
    const why = ending.signal.aborted ? 'idle' : 'signal'
    ending.abort(why)
    idle.stop()
    if (restores.isBusy) options.onWait?.()
    await Promise.all([events.close(), closeServer(server, restores)])
    return why
  })()
  return { url: `http://${LOOPBACK}:${port}/#${token}`, ended }
}

async function listen(server: Server, port: number): Promise<number> {
  try {
    await once(server.listen({ host: LOOPBACK, port }), 'listening')
  } catch (error) {
    if (!hasCode(error, 'EADDRINUSE', 'EACCES')) throw error
    const why = hasCode(error, 'EACCES') ? 'may not be used' : 'is in use'
    throw new SavestateError('BAD_INPUT', `The port ${port} ${why}`, {
      hint: 'Choose another one with --port, or leave it out: then any free port is used.',
      cause: error,
    })
  }
  return (server.address() as AddressInfo).port
}

async function closeServer(server: Server, restores: RunningRestores): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  // Running requests get their answer; connections without one are closed.
  server.closeIdleConnections()
  await restores.finished()
  const force = setTimeout(() => server.closeAllConnections(), FORCE_MS)
  await closed
  clearTimeout(force)
}

function onFirstCall(work: () => void): () => void {
  let isCalled = false
  return () => {
    if (isCalled) return
    isCalled = true
    work()
  }
}
