// An open session that is shared in mode wait: a call returns once the remote has what it wrote. If another process takes the session,
// this one gives up its local lease too, so that nothing more can be written (I11).
import { type LogName, REMOTE_LEASE_MS, SavestateError } from '../../model/index.js'
import type { Remote, RemoteLease } from '../../remote/index.js'
import type { SessionContext } from '../sessions/session-context.js'
import { GroupCommit } from './group-commit.js'
import { type HeldLease, holderTime, readInstant } from './leases/held-lease.js'
import { withRetries } from './retry.js'
import { fencedThere, isLoss, notShared } from './share-errors.js'
import { shipLog } from './ship-log.js'
import type { ShippedLog } from './types.js'

export class SessionShare {
  readonly held: HeldLease
  readonly #session: SessionContext
  readonly #remote: Remote
  /** The start of the holder that each retake names. */
  readonly #sinceMs: number
  readonly #commit = new GroupCommit(() => this.#ship())
  #onLost: ((error: SavestateError) => void) | undefined
  #loss: SavestateError | undefined
  #removal: ShippedLog['removal']

  constructor(
    session: SessionContext,
    { remote, held }: { readonly remote: Remote; readonly held: HeldLease },
  ) {
    this.#session = session
    this.#remote = remote
    this.held = held
    this.#sinceMs = holderTime(readInstant(session.clock))
  }

  get log(): LogName {
    return this.held.lease.log
  }

  get isLost(): boolean {
    return this.#loss !== undefined
  }

  /** Checkpoints were removed while it was open. Compacted before its end, it would send everything again. */
  get removal(): ShippedLog['removal'] {
    return this.#removal
  }

  /** At most one listener: the session of the SDK. */
  onLost(listener: (error: SavestateError) => void): void {
    this.#onLost = listener
  }

  /** Shares a session that the remote does not have yet, and sends what is waiting here. */
  async start(): Promise<void> {
    const remote = await withRetries(() => this.#remote.id())
    this.#session.ledger.sharing.share(this.log, { remote })
    await this.acknowledge()
  }

  /**
   * Returns once the remote has everything that was committed here before the call. Throws SESSION_FENCED, and NOT_SHARED if the
   * remote could not be reached for some seconds; a later call then sends it.
   */
  async acknowledge(): Promise<void> {
    if (this.#loss !== undefined) throw this.#loss
    const { sharing } = this.#session.ledger
    if (sharing.get(this.log)?.isDirty === true) await this.#commit.run()
  }

  /** For what no call waits for. If it fails, the next call tries again and reports the error. */
  acknowledgeLater(): void {
    this.acknowledge().catch(() => undefined)
  }

  /**
   * Call it before something starts that must not run twice. Throws SESSION_FENCED if another process may have the session, also if
   * the remote cannot be asked, and NOT_SHARED.
   */
  async expectLease(): Promise<void> {
    if (this.#loss !== undefined) throw this.#loss
    if (this.held.isSafe) return
    const sentAt = readInstant(this.#session.clock)
    const { lease } = this.held
    const lost = await this.#remote.renew([lease], REMOTE_LEASE_MS).catch((cause: unknown) => {
      throw unconfirmedLease(this.log, cause)
    })
    if (lost.length === 0) this.held.renewed(sentAt)
    else {
      this.notRenewed(lease)
      await this.acknowledge()
    }
    if (!this.held.isSafe) throw unconfirmedLease(this.log, undefined)
  }

  /**
   * The remote has another lease than this one. It may be one that this process has taken after a failover, if the answer has not arrived:
   * then something waits to be sent, and `acknowledge` finds out. Otherwise the session is lost.
   */
  notRenewed(lease: RemoteLease): void {
    const isSending = this.#session.ledger.sharing.get(this.log)?.isDirty === true
    if (this.held.lease === lease && !isSending) this.lose(fencedThere(this.log))
  }

  /** Another process has the session: this one can no longer write it. Returns the error, for the caller to throw. */
  lose(error: SavestateError): SavestateError {
    if (this.#loss !== undefined) return this.#loss
    this.#loss = error
    const { ledger, lease } = this.#session
    ledger.transaction(() => ledger.sessions.fence(lease))
    this.#onLost?.(error)
    return error
  }

  async #ship(): Promise<void> {
    const { held } = this
    try {
      await withRetries(async () => {
        const { renewedAt, removal } = await shipLog(this.#session, this.#remote, held.lease, {
          leaseMs: REMOTE_LEASE_MS,
          sinceMs: this.#sinceMs,
          onLease: (lease) => held.replace(lease),
        })
        this.#removal = removal ?? this.#removal
        if (renewedAt !== undefined) held.renewed(renewedAt)
      })
    } catch (error) {
      if (isLoss(error)) throw this.lose(error)
      throw notShared(error, this.log)
    }
  }
}

function unconfirmedLease({ id }: LogName, cause: unknown): SavestateError {
  return new SavestateError(
    'SESSION_FENCED',
    `Another process may have taken over the session ${JSON.stringify(id)}: its lease could not be renewed in time`,
    {
      hint: 'Nothing was started. Try again when the remote answers, or resume the session.',
      cause,
    },
  )
}
