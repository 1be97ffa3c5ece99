// The daemon from start to end. docs/guide/daemon.md#start describes the order.
import { once } from 'node:events'
import { chmodSync, lstatSync } from 'node:fs'
import type { Server as HttpServer } from 'node:http'
import type { Server, Socket } from 'node:net'
import { type DaemonLock, SavestateError, type Store } from '../../internal.js'
import { ADDRESS_FILE, type Address } from '../address.js'
import { environmentFingerprint } from '../environment.js'
import { AutoPush } from './auto-push.js'
import { Handlers } from './handlers.js'
import { httpAddress, listenOnLoopback } from './http-access.js'
import { httpServer } from './http-server.js'
import { removeLeftSocket, removeSocket, socketPath } from './socket-path.js'
import { socketServer } from './socket-server.js'
import { WatchedProjects } from './watched-projects.js'
import { Workload } from './workload.js'

const CHECK_EVERY_MS = 5000
const MINUTE_MS = 60_000
/** For a push that cannot go out. A remote that refuses it for longer needs the user. */
const LONGEST_IDLE_MS = 24 * 60 * MINUTE_MS

type DaemonOptions = {
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
  readonly #handlers: Handlers
  readonly #autoPush: AutoPush
  readonly #startedAt = new Date().toISOString()
  readonly #ledgerInode: bigint | undefined
  readonly #socketServer: Server
  #httpServer: HttpServer | undefined
  /** Callers of `stop`: their connection ends with the daemon. */
  readonly #stoppers: Socket[] = []
  #address: Address | undefined
  #socketInode: number | undefined
  #idleMs = 30 * MINUTE_MS
  #timer: NodeJS.Timeout | undefined
  #ending: Promise<void> | undefined
  readonly ended: Promise<void>
  #resolveEnded: () => void = () => undefined

  constructor(options: DaemonOptions) {
    this.#options = options
    const { store, lock, build, log } = options
    this.#ledgerInode = lock.ledgerInode()
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve
    })
    this.#autoPush = new AutoPush(store, log)
    this.#handlers = new Handlers(store, this.#projects, {
      onTurnEnd: () => this.#autoPush.pushSoon(),
    })
    this.#socketServer = socketServer({
      ...this.#serverOptions(),
      build,
      home: lock.home,
      setting: environmentFingerprint(process.env),
      workFor: (request) => this.#handlers.workFor(request),
      stop: (caller) => {
        this.#stoppers.push(caller)
        void this.stop()
      },
    })
  }

  /** The daemon listens when this returns. If it fails, store and lock are closed. */
  async start(): Promise<void> {
    const { lock, build, version, log } = this.#options
    try {
      removeLeftSocket(lock)
      const socket = socketPath(lock)
      await once(this.#socketServer.listen(socket), 'listening')
      this.#socketServer.on('error', log)
      chmodSync(socket, 0o600)
      this.#socketInode = inodeOf(socket)
      const port = this.#options.http ? await this.#startHttp() : null
      const startedAt = this.#startedAt
      this.#address = { build, version, pid: process.pid, startedAt, socket, port }
      lock.write(ADDRESS_FILE, `${JSON.stringify(this.#address)}\n`)
      this.#check()
    } catch (error) {
      await this.stop()
      throw error
    }
  }

  async #startHttp(): Promise<number> {
    const { lock, log } = this.#options
    const recorded = httpAddress(lock)
    const { token } = recorded
    this.#httpServer = httpServer({ ...this.#serverOptions(), token, handlers: this.#handlers })
    const port = await listenOnLoopback(this.#httpServer, recorded, lock)
    this.#httpServer.on('error', log)
    return port
  }

  #serverOptions() {
    return {
      work: this.#work,
      log: this.#options.log,
      status: () => this.#status(),
      isStopping: () => {
        // The caller has to open the new store.
        if (!this.#isCurrent()) void this.stop()
        return this.#ending !== undefined
      },
    }
  }

  #status(): Readonly<Record<string, unknown>> {
    const { lock, version } = this.#options
    return {
      version,
      pid: process.pid,
      startedAt: this.#startedAt,
      home: lock.home,
      socket: this.#address?.socket,
      port: this.#address?.port,
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
    clearTimeout(this.#timer)
    this.#autoPush.close()
    try {
      if (this.#isCurrent()) lock.remove(ADDRESS_FILE)
      this.#socketServer.close()
      this.#httpServer?.close()
      this.#httpServer?.closeIdleConnections()
      await this.#work.untilQuiet()
      this.#httpServer?.closeAllConnections()
      if (this.#address !== undefined) removeSocket(this.#address.socket, lock)
    } finally {
      await store.close().finally(() => lock.release())
      for (const caller of this.#stoppers) caller.destroy()
    }
  }

  /** Runs every few seconds. Ends a daemon that is no longer needed or no longer reachable. */
  #check(): void {
    this.#readIdleTime()
    if (!this.#isCurrent() || this.#isIdle()) {
      void this.stop()
      return
    }
    this.#projects.shed(Date.now()).catch(this.#options.log)
    this.#saveQuietProjects()
    this.#autoPush.check()
    const untilIdleMs = this.#idleMs - this.#work.quietMs
    const isNear = untilIdleMs > 0 && untilIdleMs < CHECK_EVERY_MS
    const pauseMs = isNear ? Math.max(20, untilIdleMs) : CHECK_EVERY_MS
    this.#timer = setTimeout(() => this.#check(), pauseMs)
  }

  /** Nothing was asked of it for a while, and nothing is left to push. */
  #isIdle(): boolean {
    const { quietMs } = this.#work
    if (quietMs < this.#idleMs) return false
    return quietMs >= LONGEST_IDLE_MS || !this.#autoPush.isLeft()
  }

  #saveQuietProjects(): void {
    const work = this.#handlers.quietWork()
    if (work === undefined) return
    const done = this.#work.begin()
    void work().catch(this.#options.log).finally(done)
  }

  /**
   * False if callers cannot find this daemon, or if its open ledger is no longer in the store: the store or the ledger was
   * removed or replaced, for example by a restored copy, or is not accessible.
   */
  #isCurrent(): boolean {
    const { lock, log } = this.#options
    // A caller with the address of a dead daemon can connect earlier.
    if (this.#address === undefined) return true
    try {
      const isReachable =
        inodeOf(this.#address.socket) === this.#socketInode &&
        lock.read(ADDRESS_FILE) === `${JSON.stringify(this.#address)}\n`
      return isReachable && lock.ledgerInode() === this.#ledgerInode
    } catch (error) {
      log(error)
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

/** Programs that clean up temporary folders remove sockets in them. */
function inodeOf(socket: string): number | undefined {
  return lstatSync(socket, { throwIfNoEntry: false })?.ino
}
