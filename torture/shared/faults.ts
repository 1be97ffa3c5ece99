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

type FaultCounts = Record<Fault, number>
type NetworkFault = 'longStall' | 'lostAnswer' | 'halfOpen' | 'cut' | 'stall'
type Fault = NetworkFault | 'pause' | 'maintenance' | 'expiry' | 'compaction' | 'stop' | 'kill'

/** Longer than a process waits for one answer (4 s). */
const LONG_STALL_MS = 4500
const STOP_EVERY_MS = 6000
const MAINTENANCE_EVERY_MS = 5000

/** The longest first. */
const FAULTS: readonly Fault[] = [
  'longStall',
  'lostAnswer',
  'halfOpen',
  'expiry',
  'compaction',
  'stop',
  'pause',
  'cut',
  'stall',
  'maintenance',
  'kill',
]
/** The others have a time of their own. */
const OFTEN: readonly Fault[] = [
  ...Array.from({ length: 4 }, () => 'kill' as const),
  ...FAULTS.filter((fault) => fault !== 'stop' && fault !== 'maintenance'),
]

export class Faults {
  /** Those that had an effect. */
  readonly counts = Object.fromEntries(FAULTS.map((fault) => [fault, 0])) as FaultCounts
  readonly #scene: Scene
  /** Those that last. */
  readonly #running = new Map<Promise<void>, Fault>()
  readonly #broken = new Set<Target>()
  readonly #end = new AbortController()
  #tries = 0
  #stopAt = Date.now() + STOP_EVERY_MS
  #maintainAt = Date.now() + MAINTENANCE_EVERY_MS

  constructor(scene: Scene) {
    this.#scene = scene
  }

  /** Whether each fault has happened at least once. */
  get isComplete(): boolean {
    return Object.values(this.counts).every((count) => count > 0)
  }

  /** Causes one fault: each of them until it has happened, then random ones. Some last on while others happen elsewhere. */
  async causeOne(): Promise<void> {
    const { random } = this.#scene
    const lasting = new Set(this.#running.values())
    const missing = FAULTS.filter((fault) => this.counts[fault] === 0 && !lasting.has(fault))
    const next = missing[this.#tries++ % missing.length]
    if (next !== undefined) return this.#cause(next)
    if (Date.now() > this.#maintainAt && !lasting.has('maintenance')) {
      this.#maintainAt = Date.now() + MAINTENANCE_EVERY_MS
      return this.#cause('maintenance')
    }
    if (Date.now() > this.#stopAt) {
      await this.#cause('stop')
      this.#stopAt = Date.now() + STOP_EVERY_MS + random.below(STOP_EVERY_MS)
      return
    }
    return this.#cause(random.pick(OFTEN))
  }

  /** Everything works again, and every process runs. */
  async end(): Promise<void> {
    this.#end.abort()
    await Promise.all(this.#running.keys())
    for (const { proxy } of this.#scene.hosts) proxy.resume()
  }

  async #cause(fault: Fault): Promise<void> {
    switch (fault) {
      case 'kill':
        return this.#kill()
      case 'expiry':
        return this.#expire()
      case 'compaction':
        return this.#compact()
      case 'stop':
        return this.#stopServer()
      case 'pause':
        return this.#run(fault, this.#pause())
      case 'maintenance':
        return this.#run(fault, this.#maintain())
      default:
        return this.#run(fault, this.#disturb(fault))
    }
  }

  #run(fault: Fault, work: Promise<void>): void {
    const reported = work.catch((error: unknown) =>
      this.#scene.report(error instanceof Error ? String(error.stack) : String(error)),
    )
    const running = reported.finally(() => this.#running.delete(running))
    this.#running.set(running, fault)
  }

  /** How long a fault lasts; less at the end of the run. */
  async #last(ms: number): Promise<void> {
    const { signal } = this.#end
    await sleep(ms, undefined, { signal }).catch((error: unknown) => {
      if (!signal.aborted) throw error
    })
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
    await this.#last(500 + this.#scene.random.below(2000))
    child.kill('SIGCONT')
    this.counts.pause += 1
  }

  async #disturb(kind: NetworkFault): Promise<void> {
    const { random, hosts } = this.#scene
    const whole = hosts.filter((host) => !this.#broken.has(host))
    if (whole.length === 0) return
    const host = random.pick(whole)
    const { proxy } = host
    this.#broken.add(host)
    let hasHappened = true
    if (kind === 'cut') proxy.cut()
    else if (kind === 'stall' || kind === 'longStall') proxy.stall()
    if (kind === 'halfOpen') hasHappened = proxy.halfOpen() > 0
    else if (kind === 'longStall') await this.#last(LONG_STALL_MS + random.below(LONG_STALL_MS))
    else if (kind === 'lostAnswer')
      hasHappened = await Promise.race([proxy.dropAnswer().then(() => true), sleep(500, false)])
    else await this.#last(random.below(500))
    proxy.resume()
    this.#broken.delete(host)
    if (hasHappened) this.counts[kind] += 1
  }

  /** Another process takes the sessions of a holder that still believes in its lease. */
  async #expire(): Promise<void> {
    const expired = await this.#scene.database.sql(
      `UPDATE savestate.live SET expires_at = clock_timestamp() - interval '1 minute' WHERE holder IS NOT NULL
        RETURNING log`,
    )
    if (expired.length > 0) this.counts.expiry += 1
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
    }
  }
}
