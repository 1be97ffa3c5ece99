// Renews the leases of open sessions in one round trip, and reports to the sessions that lost theirs. A commit prolongs its lease too, so
// only the leases of sessions that were silent for some time are renewed.
import { HEARTBEAT_MS, REMOTE_LEASE_MS, SavestateError } from '../../../model/index.js'
import type { Remote } from '../../../remote/index.js'
import type { Clock } from '../../../system/index.js'
import { readInstant } from './held-lease.js'
import type { SessionShare } from '../session-share.js'

/** A lease is renewed between 10 and 15 seconds after its last renewal, so a renewal that fails is followed by two more in time. */
const TICK_MS = HEARTBEAT_MS / 2

export class LeaseHeartbeat {
  readonly #remote: Remote
  readonly #clock: Pick<Clock, 'nowMs'>
  /** By session id. */
  readonly #shares: ReadonlyMap<string, SessionShare>
  #timer: NodeJS.Timeout | undefined

  constructor(
    remote: Remote,
    {
      clock,
      shares,
    }: {
      readonly clock: Pick<Clock, 'nowMs'>
      readonly shares: ReadonlyMap<string, SessionShare>
    },
  ) {
    this.#remote = remote
    this.#clock = clock
    this.#shares = shares
  }

  /** Does not keep the process alive. */
  start(): void {
    if (this.#timer !== undefined) return
    this.#timer = setInterval(() => void this.#beat(), TICK_MS)
    this.#timer.unref()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** Errors wait for the next call: it meets them too, and can report them. */
  async #beat(): Promise<void> {
    const open = [...this.#shares.values()].filter(({ isLost }) => !isLost)
    try {
      await this.#renew(open.filter(({ held }) => held.ageMs >= HEARTBEAT_MS))
      // A partial result, or a change by another process of this host.
      const rest = open.filter((it) => !it.isLost && this.#shares.get(it.log.id) === it)
      await Promise.all(rest.map((share) => share.acknowledge()))
    } catch (error) {
      if (!(error instanceof SavestateError)) throw error
    }
  }

  async #renew(shares: readonly SessionShare[]): Promise<void> {
    if (shares.length === 0) return
    const sentAt = readInstant(this.#clock)
    const leases = shares.map(({ held }) => held.lease)
    const gone = await this.#remote.renew(leases, REMOTE_LEASE_MS)
    const lost = new Set(gone.map(({ log }) => log.id))
    for (const [index, share] of shares.entries()) {
      const { log, held } = share
      const lease = leases[index]
      // Closed, or taken again, while the call was under way.
      if (this.#shares.get(log.id) !== share || held.lease !== lease) continue
      if (lost.has(log.id)) share.notRenewed(lease)
      else held.renewed(sentAt)
    }
  }
}
