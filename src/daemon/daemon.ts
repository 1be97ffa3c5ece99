// The life of the daemon: what is done in which order when it begins and when it ends (docs/daemon.md#start).
import { chmodSync, lstatSync } from 'node:fs'
import type { Server as HttpServer } from 'node:http'
import type { Server, Socket } from 'node:net'
import { type DaemonPlace, SavestateError, type Store } from '../index.js'
import { ADDRESS_FILE, type Address } from './address.js'
import { settingOf } from './client.js'
import type { CommandRunner } from './command-call.js'
import { Connections } from './connections.js'
import type { HookRunner } from './hook-call.js'
import { httpPlace, listenOnLoopback } from './http-place.js'
import { httpServer } from './http-server.js'
import { expectFolder } from './save-call.js'
import { removeLeftSocket, removeSocket, socketPath } from './socket-place.js'
import { socketServer } from './socket-server.js'
import { WatchedProjects } from './watched-projects.js'
import { Workload } from './workload.js'

export { failureLog } from './failure-log.js'
export { forgetHttpPlace, notedHttpPlace } from './http-place.js'

const LOOK_EVERY_MS = 5000
const MINUTE_MS = 60_000

export type DaemonOptions = {
  readonly place: DaemonPlace
  /** Closed by the daemon when it ends. */
  readonly store: Store
  readonly build: string
  readonly version: string
  readonly log: (error: unknown) => void
  /** Whether it listens on a TCP port besides its Unix socket. */
  readonly http: boolean
  readonly serve: (projects: WatchedProjects) => Served
}

/** What the daemon does for others, which is none of its own business. */
export type Served = {
  readonly run: CommandRunner
  readonly hook: HookRunner
  /** What there is to do in projects that have fallen quiet, if there may be something. */
  readonly atQuiet: () => (() => Promise<void>) | undefined
}

export class Daemon {
  readonly #options: DaemonOptions
  readonly #work = new Workload()
  readonly #projects = new WatchedProjects()
  readonly #startedAt = new Date().toISOString()
  readonly #ledgerInode: bigint | undefined
  readonly #served: Served
  readonly #servers: { readonly socket: Server; readonly http: HttpServer | undefined }
  readonly #connections: Connections
  /** Who has asked for its end is told by the end of the connection. */
  readonly #askers: Socket[] = []
  #published: { readonly text: string; readonly address: Address; readonly ino: number } | undefined
  #idleMs = 30 * MINUTE_MS
  #timer: NodeJS.Timeout | undefined
  #ending: Promise<void> | undefined
  readonly ended: Promise<void>
  #resolveEnded: () => void = () => undefined

  /** Use `startDaemon`. Without a token there is no HTTP. */
  constructor(options: DaemonOptions, token: string | undefined) {
    this.#options = options
    const { store, place, build, log } = options
    this.#ledgerInode = place.ledgerInode()
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve
    })
    this.#served = options.serve(this.#projects)
    const { run, hook } = this.#served
    const isStopping = () => {
      // What is in the store now, whoever asks has to look at.
      if (this.#isReplaced()) void this.stop()
      return this.#ending !== undefined
    }
    const common = { work: this.#work, isStopping, log, status: () => this.status() }
    this.#servers = {
      socket: socketServer({
        ...common,
        build,
        home: place.home,
        setting: settingOf(process.env),
        run,
        stop: (asker) => {
          this.#askers.push(asker)
          void this.stop()
        },
      }),
      http:
        token === undefined
          ? undefined
          : httpServer({
              ...common,
              token,
              hook,
              save: async ({ path, input }) => {
                expectFolder(path)
                const project = await store.projectFor(path)
                return this.#projects.watch(project).save(input)
              },
            }),
    }
    this.#connections = new Connections(this.#servers.socket)
  }

  async listen(listenHttp: (server: HttpServer) => Promise<number | null>): Promise<void> {
    const { place, build, version, log } = this.#options
    const socket = socketPath(place)
    await listening(this.#servers.socket, socket)
    chmodSync(socket, 0o600)
    const { http } = this.#servers
    const port = http === undefined ? null : await listenHttp(http)
    const address = { build, version, pid: process.pid, startedAt: this.#startedAt, socket, port }
    const text = `${JSON.stringify(address)}\n`
    place.write(ADDRESS_FILE, text)
    this.#published = { text, address, ino: lstatSync(socket).ino }
    this.#servers.socket.on('error', log)
    http?.on('error', log)
    this.#look()
  }

  status(): Readonly<Record<string, unknown>> {
    const { place, version } = this.#options
    return {
      version,
      pid: process.pid,
      startedAt: this.#startedAt,
      home: place.home,
      socket: this.#published?.address.socket,
      port: this.#published?.address.port,
      idleMinutes: this.#idleMs / MINUTE_MS,
      memoryBytes: process.memoryUsage.rss(),
      working: this.#work.underWay,
      served: this.#work.served,
      projects: this.#projects.uses,
    }
  }

  /** Finishes what is under way, then ends. */
  stop(): Promise<void> {
    this.#ending ??= this.#end().catch(this.#options.log).finally(this.#resolveEnded)
    return this.#ending
  }

  async #end(): Promise<void> {
    const { place, store } = this.#options
    const { socket, http } = this.#servers
    clearTimeout(this.#timer)
    try {
      if (this.#isPublished()) place.remove(ADDRESS_FILE)
      socket.close()
      http?.close()
      http?.closeIdleConnections()
      await this.#work.untilQuiet()
      http?.closeAllConnections()
      if (this.#published !== undefined) removeSocket(this.#published.address.socket, place)
    } finally {
      await store.close().finally(() => place.release())
      await this.#connections.end({ but: this.#askers })
      for (const asker of this.#askers) asker.destroy()
    }
  }

  /** From time to time: whether there is still a reason to be there. */
  #look(): void {
    this.#readIdleTime()
    if (!this.#isPublished() || this.#isReplaced() || this.#work.quietMs >= this.#idleMs) {
      void this.stop()
      return
    }
    this.#projects.shed(Date.now()).catch(this.#options.log)
    this.#lookAtQuiet()
    const untilIdleMs = Math.max(20, this.#idleMs - this.#work.quietMs)
    this.#timer = setTimeout(() => this.#look(), Math.min(LOOK_EVERY_MS, untilIdleMs))
  }

  #lookAtQuiet(): void {
    const look = this.#served.atQuiet()
    if (look === undefined) return
    const done = this.#work.begin()
    void look().catch(this.#options.log).finally(done)
  }

  /** False when the store, or the socket, was removed or replaced: nobody finds us any more. */
  #isPublished(): boolean {
    if (this.#published === undefined) return false
    const { text, address, ino } = this.#published
    return this.#isSeen(
      () =>
        lstatSync(address.socket, { throwIfNoEntry: false })?.ino === ino &&
        this.#options.place.read(ADDRESS_FILE) === text,
    )
  }

  /** A copy was put back over the store, file by file: what is open is nowhere any more. */
  #isReplaced(): boolean {
    return !this.#isSeen(() => this.#options.place.ledgerInode() === this.#ledgerInode)
  }

  /** A store that cannot be looked at is nobody's any more: what is under way is finished, as at every end. */
  #isSeen(look: () => boolean): boolean {
    try {
      return look()
    } catch (error) {
      this.#options.log(error)
      return false
    }
  }

  #readIdleTime(): void {
    try {
      this.#idleMs = this.#options.store.settings.daemonIdleMinutes * MINUTE_MS
    } catch (error) {
      // Settings that cannot be used, or read, are told by every command that needs them; until then the last ones hold.
      if (!(error instanceof SavestateError)) this.#options.log(error)
    }
  }
}

/** Listens when it returns. What it was given is closed if it fails. */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const { place } = options
  removeLeftSocket(place)
  const noted = options.http ? httpPlace(place) : undefined
  const daemon = new Daemon(options, noted?.token)
  try {
    await daemon.listen(async (server) =>
      noted === undefined ? null : listenOnLoopback(server, noted, place),
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
