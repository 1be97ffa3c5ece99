// The faults: kills, pauses, bad networks, hard stops of the server, leases that end early, collectors beside writers.
import type { ChildProcess } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../../bench/trees/random.js'
import { compactSegments } from '../../src/model/index.js'
import type { Store } from '../../src/index.js'
import type { Remote } from '../../src/remote/index.js'
import type { PostgresServer, TestDatabase } from '../../test/support/postgres/index.js'
import type { TcpProxy } from '../../test/support/remote/tcp-proxy.js'

export type Target = {
  readonly proxy: TcpProxy
  /** Its running processes, with the number of entries that each has written. */
  readonly processes: () => readonly { readonly child: ChildProcess; readonly entries: number }[]
}

export type Scene = {
  readonly random: Random
  readonly hosts: readonly Target[]
  readonly server: PostgresServer
  readonly database: TestDatabase
  readonly sessions: readonly string[]
  /** Compacts and collects. */
  readonly remote: Remote
  /** Prunes and verifies the same remote. */
  readonly store: Store
  readonly report: (fault: string) => void
}

export type FaultCounts = Record<Fault | 'stop' | 'maintenance', number>
type Fault =
  | 'kill'
  | 'pause'
  | 'cut'
  | 'stall'
  | 'longStall'
  | 'halfOpen'
  | 'lostAnswer'
  | 'expiry'
  | 'compaction'

/** Longer than a process waits for one answer (4 s). */
const LONG_STALL_MS = 4500
const STOP_EVERY_MS = 6000
const MAINTENANCE_EVERY_MS = 5000

export class Faults {
  readonly counts: FaultCounts = {
    kill: 0,
    pause: 0,
    cut: 0,
    stall: 0,
    longStall: 0,
    halfOpen: 0,
    lostAnswer: 0,
    expiry: 0,
    compaction: 0,
    stop: 0,
    maintenance: 0,
  }
  readonly #scene: Scene
  readonly #running = new Set<Promise<void>>()
  readonly #broken = new Set<Target>()
  #isMaintained = false
  #stopAt = Date.now() + STOP_EVERY_MS
  #maintainAt = Date.now() + MAINTENANCE_EVERY_MS

  constructor(scene: Scene) {
    this.#scene = scene
  }

  /** Causes one fault. Those of a network last on while others happen elsewhere. */
  async causeOne(): Promise<void> {
    const { random } = this.#scene
    if (Date.now() > this.#maintainAt && !this.#isMaintained) {
      this.#maintainAt = Date.now() + MAINTENANCE_EVERY_MS
      return this.#run(this.#maintain())
    }
    if (Date.now() > this.#stopAt) {
      await this.#stopServer()
      this.#stopAt = Date.now() + STOP_EVERY_MS + random.below(STOP_EVERY_MS)
      return
    }
    const works: readonly (() => Promise<void>)[] = [
      ...Array.from({ length: 5 }, () => () => this.#kill()),
      () => this.#expire(),
      () => this.#compact(),
      async () => this.#run(this.#pause()),
      ...(['cut', 'stall', 'longStall', 'halfOpen', 'lostAnswer'] as const).map(
        (kind) => async () => this.#run(this.#disturb(kind)),
      ),
    ]
    await random.pick(works)()
  }

  /** Everything works again, and every process runs. */
  async end(): Promise<void> {
    await Promise.all(this.#running)
    for (const { proxy } of this.#scene.hosts) proxy.resume()
  }

  #run(work: Promise<void>): void {
    const reported = work.catch((error: unknown) =>
      this.#scene.report(error instanceof Error ? String(error.stack) : String(error)),
    )
    const running = reported.finally(() => this.#running.delete(running))
    this.#running.add(running)
  }

  /** One that has done something: on a busy machine they would all be killed while they start. */
  #pickBusy(): ChildProcess | undefined {
    const { hosts, random } = this.#scene
    const all = hosts.flatMap((host) => host.processes())
    const busy = all.filter(({ entries }) => entries > random.below(20))
    return busy.length === 0 ? undefined : random.pick(busy).child
  }

  async #kill(): Promise<void> {
    const child = this.#pickBusy()
    if (child === undefined) return
    child.kill('SIGKILL')
    this.counts.kill += 1
  }

  /** As a machine that sleeps: its leases end, and others take them. */
  async #pause(): Promise<void> {
    const child = this.#pickBusy()
    if (child === undefined) return
    child.kill('SIGSTOP')
    await sleep(500 + this.#scene.random.below(2000))
    child.kill('SIGCONT')
    this.counts.pause += 1
  }

  async #disturb(kind: 'cut' | 'stall' | 'longStall' | 'halfOpen' | 'lostAnswer'): Promise<void> {
    const { random, hosts } = this.#scene
    const whole = hosts.filter((host) => !this.#broken.has(host))
    if (whole.length === 0) return
    const host = random.pick(whole)
    const { proxy } = host
    this.#broken.add(host)
    if (kind === 'cut') proxy.cut()
    else if (kind === 'halfOpen') proxy.halfOpen()
    else if (kind !== 'lostAnswer') proxy.stall()
    if (kind === 'longStall') await sleep(LONG_STALL_MS + random.below(LONG_STALL_MS))
    else if (kind === 'lostAnswer') await Promise.race([proxy.dropAnswer(), sleep(500)])
    else if (kind !== 'halfOpen') await sleep(random.below(500))
    proxy.resume()
    this.#broken.delete(host)
    this.counts[kind] += 1
  }

  /** Another process takes the sessions of a holder that still believes in its lease. */
  async #expire(): Promise<void> {
    await this.#scene.database.sql(
      `UPDATE savestate.live SET expires_at = clock_timestamp() - interval '1 minute' WHERE holder IS NOT NULL`,
    )
    this.counts.expiry += 1
  }

  async #compact(): Promise<void> {
    const { remote, random, sessions } = this.#scene
    const log = { kind: 'session', id: random.pick(sessions) } as const
    const isDone = await remote.compact(log, (contents) => compactSegments(contents, log))
    if (isDone) this.counts.compaction += 1
    await remote.collectPacks()
  }

  async #stopServer(): Promise<void> {
    const { server, random } = this.#scene
    await server.stop('immediate')
    await sleep(random.below(300))
    await server.start()
    this.counts.stop += 1
  }

  /** An administrator prunes and verifies beside the writers. The remote is whole at any time. */
  async #maintain(): Promise<void> {
    const { store, random, report } = this.#scene
    this.#isMaintained = true
    try {
      if (random.below(2) === 0) await store.remotes.prune()
      else
        for (const problem of (await store.remotes.verify()).problems)
          report(`verify beside writers: ${JSON.stringify(problem)}`)
      this.counts.maintenance += 1
    } catch (error) {
      // The server was stopped.
      if (!(error instanceof Error && 'code' in error && error.code === 'REMOTE_UNREACHABLE'))
        throw error
    } finally {
      this.#isMaintained = false
    }
  }
}
