// A lease on a remote as its holder counts it: from when the last renewal that succeeded was sent, so that the remote's clock is never
// compared with this one. Monotonic clocks stop while a laptop sleeps, and clocks of the wall go back when they are set: whichever of
// both says that more time has passed counts.
import { LEASE_MARGIN_MS, REMOTE_LEASE_MS } from '../../../model/index.js'
import type { RemoteLease } from '../../../remote/index.js'
import type { Clock } from '../../../system/index.js'

export type Instant = { readonly wallMs: number; readonly steadyMs: number }

export function readInstant({ nowMs }: Pick<Clock, 'nowMs'>): Instant {
  return { wallMs: nowMs(), steadyMs: performance.now() }
}

/** Two stores of one process may begin in one millisecond, and each must recognize its own takes only. */
export function holderTime({ wallMs, steadyMs }: Instant): number {
  return wallMs + (steadyMs % 1)
}

export class HeldLease {
  #lease: RemoteLease
  readonly #clock: Pick<Clock, 'nowMs'>
  #renewedAt: Instant

  constructor(lease: RemoteLease, sentAt: Instant, clock: Pick<Clock, 'nowMs'>) {
    this.#lease = lease
    this.#clock = clock
    this.#renewedAt = sentAt
  }

  get lease(): RemoteLease {
    return this.#lease
  }

  /** A remote that had gone back gave another lease. */
  replace(lease: RemoteLease): void {
    this.#lease = lease
  }

  /** `sentAt`: before the call that prolonged the lease. Calls may be answered in any order. */
  renewed(sentAt: Instant): void {
    if (sentAt.steadyMs > this.#renewedAt.steadyMs) this.#renewedAt = sentAt
  }

  /** No other process can have the lease yet, and there is time enough to start something. */
  get isSafe(): boolean {
    return this.ageMs < REMOTE_LEASE_MS - LEASE_MARGIN_MS
  }

  /** The time since the last renewal. */
  get ageMs(): number {
    const now = readInstant(this.#clock)
    const { wallMs, steadyMs } = this.#renewedAt
    return Math.max(now.wallMs - wallMs, now.steadyMs - steadyMs)
  }
}
