// The daemon from start to end. docs/guide/daemon.md#start describes the order.
import { chmodSync, lstatSync } from 'node:fs'
import type { Server as HttpServer } from 'node:http'
import type { Server, Socket } from 'node:net'
import { type DaemonLock, SavestateError, type Store } from '../../internal.js'
import { ADDRESS_FILE, type Address } from '../address.js'
import { environmentFingerprint } from '../environment.js'
import { Connections } from './connections.js'
import { Handlers } from './handlers.js'
import { httpAddress, listenOnLoopback } from './http-address.js'
import { httpServer } from './http-server.js'
import { removeLeftSocket, removeSocket, socketPath } from './socket-path.js'
import { socketServer } from './socket-server.js'
import { WatchedProjects } from './watched-projects.js'
import { Workload } from './workload.js'

const CHECK_EVERY_MS = 5000
const MINUTE_MS = 60_000

export type DaemonOptions = {
  readonly lock: DaemonLock
  /** Closed by the daemon when it ends. */
  readonly store: Store
  readonly build: string
  readonly version: string
  readonly log: (error: unknown) => void
  /** Whether it listens on a TCP port besides its Unix socket. */
  readonly http: boolean
}

export class Daemon {
  readonly #options: DaemonOptions
  readonly #work = new Workload()
  readonly #projects = new WatchedProjects()
  readonly #startedAt = new Date().toISOString()
  readonly #ledgerInode: bigint | undefined
  readonly #handlers: Handlers
  readonly #servers: { readonly socket: Server; readonly http: HttpServer | undefined }
  readonly #connections: Connections
  /** Callers of `stop`: their connection ends with the daemon. */
  readonly #stoppers: Socket[] = []
  #published: { readonly text: string; readonly address: Address; readonly ino: number } | undefined
  #idleMs = 30 * MINUTE_MS
  #timer: NodeJS.Timeout | undefined
  #ending: Promise<void> | undefined
  readonly ended: Promise<void>
  #resolveEnded: () => void = () => undefined

  /** Use `startDaemon`. Without a token there is no HTTP. */
  constructor(options: DaemonOptions, token: string | undefined) {
    this.#options = options
    const { store, lock, build, log } = options
    this.#ledgerInode = lock.ledgerInode()
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve
    })
    this.#handlers = new Handlers(store, this.#projects)
    const isStopping = () => {
      // The caller has to open the new store.
      if (this.#isReplaced()) void this.stop()
      return this.#ending !== undefined
    }
    const common = { work: this.#work, isStopping, log, status: () => this.status() }
    this.#servers = {
      socket: socketServer({
        ...common,
        build,
        home: lock.home,
        setting: environmentFingerprint(process.env),
        workFor: (request) => this.#handlers.workFor(request),
        stop: (caller) => {
          this.#stoppers.push(caller)
          void this.stop()
        },
      }),
      http:
        token === undefined
          ? undefined
          : httpServer({
              ...common,
              token,
              hook: (call) => this.#handlers.hookOverHttp(call),
              save: (call) => this.#handlers.saveOverHttp(call),
            }),
    }
    this.#connections = new Connections(this.#servers.socket)
  }

  async listen(listenHttp: (server: HttpServer) => Promise<number | null>): Promise<void> {
    const { lock, build, version, log } = this.#options
    const socket = socketPath(lock)
    await listening(this.#servers.socket, socket)
    chmodSync(socket, 0o600)
    const { http } = this.#servers
    const port = http === undefined ? null : await listenHttp(http)
    const address = { build, version, pid: process.pid, startedAt: this.#startedAt, socket, port }
    const text = `${JSON.stringify(address)}\n`
    lock.write(ADDRESS_FILE, text)
    this.#published = { text, address, ino: lstatSync(socket).ino }
    this.#servers.socket.on('error', log)
    http?.on('error', log)
    this.#check()
  }

  status(): Readonly<Record<string, unknown>> {
    const { lock, version } = this.#options
    return {
      version,
      pid: process.pid,
      startedAt: this.#startedAt,
      home: lock.home,
      socket: this.#published?.address.socket,
      port: this.#published?.address.port,
      idleMinutes: this.#idleMs / MINUTE_MS,
      memoryBytes: process.memoryUsage.rss(),
      working: this.#work.underWay,
      served: this.#work.served,
      projects: this.#projects.uses,
    }
  }

  /** Finishes running work, then ends. */
  stop(): Promise<void> {
    this.#ending ??= this.#end().catch(this.#options.log).finally(this.#resolveEnded)
    return this.#ending
  }

  async #end(): Promise<void> {
    const { lock, store } = this.#options
    const { socket, http } = this.#servers
    clearTimeout(this.#timer)
    try {
      if (this.#isPublished()) lock.remove(ADDRESS_FILE)
      socket.close()
      http?.close()
      http?.closeIdleConnections()
      await this.#work.untilQuiet()
      http?.closeAllConnections()
      if (this.#published !== undefined) removeSocket(this.#published.address.socket, lock)
    } finally {
      await store.close().finally(() => lock.release())
      await this.#connections.end({ except: this.#stoppers })
      for (const caller of this.#stoppers) caller.destroy()
    }
  }

  /** Runs every few seconds. Ends a daemon that is no longer needed or no longer reachable. */
  #check(): void {
    this.#readIdleTime()
    if (!this.#isPublished() || this.#isReplaced() || this.#work.quietMs >= this.#idleMs) {
      void this.stop()
      return
    }
    this.#projects.shed(Date.now()).catch(this.#options.log)
    this.#saveQuietProjects()
    const untilIdleMs = Math.max(20, this.#idleMs - this.#work.quietMs)
    this.#timer = setTimeout(() => this.#check(), Math.min(CHECK_EVERY_MS, untilIdleMs))
  }

  #saveQuietProjects(): void {
    const work = this.#handlers.quietWork()
    if (work === undefined) return
    const done = this.#work.begin()
    void work().catch(this.#options.log).finally(done)
  }

  /** False if the store or the socket was removed or replaced: callers cannot find this daemon. */
  #isPublished(): boolean {
    if (this.#published === undefined) return false
    const { text, address, ino } = this.#published
    return this.#isSeen(
      () =>
        lstatSync(address.socket, { throwIfNoEntry: false })?.ino === ino &&
        this.#options.lock.read(ADDRESS_FILE) === text,
    )
  }

  /** The ledger was replaced, for example by a restored copy: the open one is no longer in the store. */
  #isReplaced(): boolean {
    return !this.#isSeen(() => this.#options.lock.ledgerInode() === this.#ledgerInode)
  }

  /** False also if the store is not accessible. */
  #isSeen(check: () => boolean): boolean {
    try {
      return check()
    } catch (error) {
      this.#options.log(error)
      return false
    }
  }

  #readIdleTime(): void {
    try {
      this.#idleMs = this.#options.store.settings.daemonIdleMinutes * MINUTE_MS
    } catch (error) {
      // Commands report invalid settings. Until they are fixed, the previous ones apply.
      if (!(error instanceof SavestateError)) this.#options.log(error)
    }
  }
}

/** The daemon listens when this returns. If it fails, store and lock are closed. */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const { lock } = options
  removeLeftSocket(lock)
  const noted = options.http ? httpAddress(lock) : undefined
  const daemon = new Daemon(options, noted?.token)
  try {
    await daemon.listen(async (server) =>
      noted === undefined ? null : listenOnLoopback(server, noted, lock),
    )
    return daemon
  } catch (error) {
    await daemon.stop()
    throw error
  }
}

function listening(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, () => {
      server.off('error', reject)
      resolve()
    })
  })
}
