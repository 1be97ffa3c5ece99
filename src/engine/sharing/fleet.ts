// Mode wait: all sessions and threads of an open store are shared through one remote, and a call returns once the remote has what it
// wrote (docs/internals/shared.md). One heartbeat renews the leases of all open sessions.
import {
  type LogName,
  parseSessionId,
  type Project,
  REMOTE_LEASE_MS,
  type RemoteProject,
  SavestateError,
} from '../../model/index.js'
import type { SharedLog } from '../../ledger/index.js'
import type { Remote } from '../../remote/index.js'
import type { StoreContext } from '../operation/context.js'
import { isLeasedElsewhere, openSession, type OpenRequest } from '../sessions/open-session.js'
import type { SessionContext } from '../sessions/session-context.js'
import { catchUp, type CatchUpOptions, forkPrefixOf } from './catch-up.js'
import { claimUsable } from './leases/claim-usable.js'
import { shipClosed } from './closed-sessions.js'
import { compactIfReachable } from './compact-log.js'
import { HeldLease, holderTime, type Instant, readInstant } from './leases/held-lease.js'
import { LeaseHeartbeat } from './leases/lease-heartbeat.js'
import { giveProject } from './project-identity.js'
import { withRetries } from './retry.js'
import { SessionShare } from './session-share.js'
import { existsThere, fencedThere, forkNotice, isLoss, notShared } from './share-errors.js'
import { releaseIfReachable, takeLog, takeOrRetakeLog } from './leases/take-log.js'
import { ThreadShares } from './thread-shares.js'
import type { TakenLog } from './types.js'

type Opening = {
  /** It must not exist on the remote. */
  readonly isNew?: boolean
  /** The folder of the session on this machine. */
  readonly project: Project | undefined
  /** Opens or creates it in the ledger, which has by then what the remote has. */
  readonly open: () => Promise<SessionContext> | SessionContext
}

export type OpenedShare = {
  readonly session: SessionContext
  /** For the user and the agent: steps of this host became a fork. */
  readonly notices: readonly string[]
  /** The project that the remote has for it. */
  readonly remoteProject: RemoteProject | null
}

export class Fleet {
  readonly remote: Remote
  readonly threads: ThreadShares
  readonly #store: StoreContext
  readonly #shares = new Map<string, SessionShare>()
  readonly #heartbeat: LeaseHeartbeat

  constructor(store: StoreContext, remote: Remote) {
    this.remote = remote
    this.#store = { ...store, fleet: this }
    this.threads = new ThreadShares(this.#store, remote)
    this.#heartbeat = new LeaseHeartbeat(remote, { clock: store.clock, shares: this.#shares })
  }

  /** Takes the session on the remote, brings what was shared since, and opens it here. Throws as `openSession`, and as a remote. */
  async open(request: OpenRequest): Promise<OpenedShare> {
    const { ledger } = this.#store
    const id = parseSessionId(request.id)
    const known = ledger.sessions.byId(id)
    const projectId = known?.project ?? null
    const project = request.project ?? (projectId === null ? undefined : ledger.project(projectId))
    const log: LogName = { kind: 'session', id }
    // A shared session is not created again if it was deleted there.
    const isShared = ledger.sharing.get(log)?.isDeleted === false
    const mayCreate = !isShared && (request.must !== 'be known' || known !== undefined)
    const create = { agent: request.agent ?? known?.agent ?? null, project }
    return this.#take(log, mayCreate ? create : undefined, {
      isNew: request.must === 'be new',
      project,
      open: () => openSession(this.#store, request),
    })
  }

  /** Takes it neither here nor there: each write is shipped by itself. Throws as `openSession`, and as a remote. */
  async openUnleased(request: OpenRequest): Promise<OpenedShare> {
    const { ledger } = this.#store
    const log: LogName = { kind: 'session', id: parseSessionId(request.id) }
    const notices = await this.refresh(log.id)
    const isNew = ledger.sessions.byId(log.id) === undefined
    const session = openSession(this.#store, request)
    if (isNew) ledger.sharing.share(log, { remote: await this.remote.id() })
    return { session, notices, remoteProject: null }
  }

  /**
   * Like `open`, for any session in progress that no process continues; returns what `use` makes of it. Undefined if there is none.
   * Leaves those that cannot be opened, or that `use` cannot use: `onUnusable` gets a notice of each.
   */
  async claim<Result>(
    { agent }: Pick<OpenRequest, 'agent'>,
    {
      use,
      onUnusable,
    }: {
      readonly use: (opened: OpenedShare) => Promise<Result>
      readonly onUnusable: (notice: string) => void
    },
  ): Promise<Result | undefined> {
    return claimUsable(this.#store, this.remote, {
      agent,
      onUnusable,
      open: async (taken, sentAt) => {
        const { id } = taken.lease.log
        const open = () => openSession(this.#store, { agent, id, must: 'be known' })
        return use(await this.#openTaken(taken, sentAt, { project: undefined, open }))
      },
    })
  }

  /** For a session that does not exist yet: `create` makes it in the ledger, and opens it. */
  async create(
    id: string,
    facts: { readonly agent: string | null; readonly project: OpenRequest['project'] },
    create: () => Promise<SessionContext>,
  ): Promise<OpenedShare> {
    return this.#take({ kind: 'session', id: parseSessionId(id) }, facts, {
      isNew: true,
      project: facts.project,
      open: create,
    })
  }

  /**
   * Brings a session here as the remote has it, without opening it. Does nothing if this process has it open. Returns the notices for
   * the user: steps of this host may have become a fork.
   */
  async refresh(id: string): Promise<readonly string[]> {
    if (this.#shares.has(id)) return []
    const log: LogName = { kind: 'session', id }
    const head = await withRetries(() => this.remote.head(log))
    if (head === undefined || head.isDeleted) return []
    const forks = await this.#catchUp(log, { head })
    return forks.map((fork) => forkNotice(log, fork))
  }

  /** Leaves a tombstone on the remote; returns how many steps the session had there. Throws SESSION_BUSY. */
  async deleteThere(id: string, share: SessionShare | undefined): Promise<number> {
    const log: LogName = { kind: 'session', id: parseSessionId(id) }
    const request = { log, leaseMs: REMOTE_LEASE_MS, sinceMs: this.#store.clock.nowMs() }
    const taken =
      share === undefined
        ? await withRetries(() => takeLog(this.#store, this.remote, request)).catch(ifGone)
        : { lease: share.held.lease, head: undefined }
    if (taken === undefined) return 0
    const isDeleted = await withRetries(() => this.remote.deleteLog(log, taken.lease.fence))
    const head = isDeleted ? undefined : await withRetries(() => this.remote.head(log))
    if (head !== undefined && !head.isDeleted) throw fencedThere(log)
    if (share !== undefined) this.#shares.delete(id)
    return taken.head?.card?.steps ?? 0
  }

  /** Returns once the remote has every change of every shared session and thread. Throws NOT_SHARED, SESSION_FENCED. */
  async acknowledge({ skipBusy = false }: { readonly skipBusy?: boolean } = {}): Promise<void> {
    await this.#acknowledgeLogs(await this.#listDirty(), { skipBusy })
  }

  /** Waits for nothing: the sessions are closed already. */
  async close(): Promise<void> {
    this.#heartbeat.stop()
    await this.remote.close()
  }

  async #listDirty(): Promise<readonly SharedLog[]> {
    const remote = await withRetries(() => this.remote.id())
    return this.#store.ledger.sharing.list({ remote, isDirty: true })
  }

  async #acknowledgeLogs(
    logs: readonly SharedLog[],
    { skipBusy }: { readonly skipBusy: boolean },
  ): Promise<void> {
    const sent = logs.map(async (shared) => {
      try {
        await this.#acknowledgeLog(shared)
      } catch (error) {
        if (!skipBusy || !isBusy(error)) throw error
      }
    })
    await Promise.all(sent)
  }

  /**
   * Brings what was shared since. Steps of this host that became a fork are on the remote afterwards, also those of a fork that a killed
   * process made: this host may not live much longer. Returns the ids of these forks.
   */
  async #catchUp(log: LogName, options: CatchUpOptions): Promise<readonly string[]> {
    await withRetries(() => catchUp(this.#store, this.remote, log, options))
    return this.#shipForks(log)
  }

  async #shipForks({ id }: LogName): Promise<readonly string[]> {
    const forks = (await this.#listDirty()).filter(
      ({ log, position }) =>
        log.kind === 'session' && log.id.startsWith(forkPrefixOf(id)) && position.hash === null,
    )
    // Another process of this host may be sending them.
    await this.#acknowledgeLogs(forks, { skipBusy: true })
    return forks.map(({ log }) => log.id)
  }

  async #acknowledgeLog({ log, isDeleted }: SharedLog): Promise<void> {
    // The checkpoints of a project travel with `push`, also in mode wait.
    if (log.kind === 'project') return
    if (log.kind === 'thread') return this.threads.acknowledge(log.id)
    // A prune has removed the copy of this host. It may be old, so it says nothing about the session itself.
    if (isDeleted) return this.#store.ledger.sharing.unshare(log)
    const share = this.#shares.get(log.id)
    if (share !== undefined) return share.acknowledge()
    const { ledger, clock } = this.#store
    const lease = ledger.sessions.byId(log.id)?.lease ?? null
    // Another process of this host has it open, and sends the change with its next segment.
    if (isLeasedElsewhere(lease, clock.nowMs())) return
    try {
      const sinceMs = clock.nowMs()
      await withRetries(() => shipClosed(this.#store, this.remote, { log, sinceMs }))
    } catch (error) {
      if (isLoss(error)) await this.#shipForks(log)
      throw notShared(error, log)
    }
  }

  async #take(
    log: LogName,
    create: Parameters<typeof takeLog>[2]['create'],
    opening: Opening,
  ): Promise<OpenedShare> {
    let sentAt = readInstant(this.#store.clock)
    const sinceMs = holderTime(sentAt)
    const taken = await withRetries(() => {
      sentAt = readInstant(this.#store.clock)
      return takeOrRetakeLog(this.#store, this.remote, {
        log,
        leaseMs: REMOTE_LEASE_MS,
        create,
        sinceMs,
      })
    })
    return this.#openTaken(taken, sentAt, opening)
  }

  async #openTaken(
    { lease, head }: TakenLog,
    sentAt: Instant,
    { isNew = false, project, open }: Opening,
  ): Promise<OpenedShare> {
    const { log } = lease
    const held = new HeldLease(lease, sentAt, this.#store.clock)
    let session: SessionContext | undefined
    try {
      if (isNew && head.hash !== null) throw existsThere(log)
      const forks = await this.#catchUp(log, { taken: { lease, head }, project })
      session = await open()
      if (project !== undefined) giveProject(session, project, head.project)
      const share = new SessionShare(session, { remote: this.remote, held })
      await share.start()
      this.#shares.set(log.id, share)
      this.#heartbeat.start()
      const notices = forks.map((fork) => forkNotice(log, fork))
      return { session: { ...session, share }, notices, remoteProject: head.project }
    } catch (error) {
      if (session !== undefined) this.#store.ledger.sessions.releaseLease(session.lease)
      await releaseIfReachable(this.remote, held.lease)
      throw error
    }
  }

  /**
   * Sends what is left, then gives the session up here and there. If that cannot be sent, the lease expires by itself: the caller must
   * learn that the work is not shared, and not that the lease could not be given up either.
   */
  async release({ log, held }: SessionShare): Promise<void> {
    const share = this.#shares.get(log.id)
    if (share?.held !== held) return
    try {
      if (!share.isLost) await share.acknowledge()
      if (!share.isLost && share.removal !== undefined)
        await compactIfReachable(this.remote, { log, ...share.removal })
    } finally {
      this.#shares.delete(log.id)
    }
    if (!share.isLost) await releaseIfReachable(this.remote, held.lease)
  }
}

function isBusy(error: unknown): boolean {
  const cause = error instanceof SavestateError ? error.cause : undefined
  return cause instanceof SavestateError && cause.code === 'SESSION_BUSY'
}

function ifGone(error: unknown): undefined {
  const codes = ['SESSION_UNKNOWN', 'SESSION_DELETED']
  if (!(error instanceof SavestateError) || !codes.includes(error.code)) throw error
}
