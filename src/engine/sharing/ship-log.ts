// Sends what a log has gained since its last segment (docs/internals/shared.md#order-of-writes).
import type { PreparedSegment } from '../../ledger/index.js'
import { type LogName, nameOf, pathText, type Project } from '../../model/index.js'
import type { CommitResult, Remote } from '../../remote/index.js'
import { failpoint } from '../../system/index.js'
import type { StoreContext } from '../operation/context.js'
import { readInstant } from './held-lease.js'
import { remoteIdOf } from './project-identity.js'
import { resolveConflict } from './resolve-conflict.js'
import { fencedThere } from './share-errors.js'
import { planPacks, sendPacks } from './ship-packs.js'
import type { LogWriter, ShippedLog } from './types.js'

type Options = {
  /** Prolongs the lease. */
  readonly leaseMs: number | null
}

/**
 * Sends the pending segment and all changes after it. Returns once the remote has committed everything that was here at the call.
 * The log must be shared (`ledger.sharing.share`).
 *
 * Throws SESSION_FENCED if another process has the log by now, REMOTE_WENT_BACK if the remote has lost segments and another process
 * has the log, SESSION_DELETED, and the errors of a remote. Then everything is still here, and a later call sends it.
 */
export async function shipLog(
  context: StoreContext,
  remote: Remote,
  given: LogWriter,
  { leaseMs }: Options,
): Promise<ShippedLog> {
  await remote.id()
  const { ledger, clock } = context
  const { log } = given
  let writer = given
  let shipped: ShippedLog = { segments: 0, bytes: 0, writer }
  for (;;) {
    await planPacks(context, log)
    failpoint('share:packed')
    const prepared = prepare(context, remote, log)
    if (prepared === undefined) return { ...shipped, writer }
    failpoint('share:encoded')
    const packs = await sendPacks(context, remote, prepared)
    failpoint('share:uploaded')
    const sentAt = readInstant(clock)
    const result =
      packs === 'missing-pack'
        ? { kind: packs }
        : await remote.commit({ ...prepared.commit, log, fence: writer.fence, leaseMs, packs })
    if (result.kind === 'done') {
      failpoint('share:sent')
      ledger.transactionNoSync(() => ledger.sharing.acknowledge(log, result.position))
      failpoint('share:acked')
      if (result.isFenced === true) throw fencedThere(log)
      const { segments, bytes } = shipped
      shipped = {
        segments: segments + 1,
        bytes: bytes + prepared.commit.segment.body.length,
        writer,
        renewedAt: sentAt,
      }
      // A segment that was encoded by this call has everything that was here.
      if (!prepared.wasPending) return shipped
    } else if (result.kind === 'missing-pack')
      ledger.transactionNoSync(() => ledger.sharing.forgetPacks(log))
    else writer = await resolveConflict(context, remote, { writer, leaseMs, head: result.head, before: prepared.commit.before })
  }
}
