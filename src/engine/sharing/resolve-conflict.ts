// A remote did not take a segment, because the log is not where this store thinks it is.
import type { LogPosition } from '../../model/index.js'
import type { LogHead, Remote } from '../../remote/index.js'
import type { StoreContext } from '../operation/context.js'
import { catchUp, hasGoneBack, isAllKnownHere, rebaseThread } from './catch-up.js'
import { deletedThere, fencedThere, wentBack } from './share-errors.js'
import { isOwnTake, releaseIfReachable, retakeLog } from './leases/take-log.js'
import type { LogWriter } from './types.js'

type Conflict = {
  readonly writer: LogWriter
  readonly leaseMs: number | null
  /** The start of the holder that a retake names: the same for all attempts. */
  readonly sinceMs: number | undefined
  /** The position that the segment was made for. */
  readonly before: LogPosition
  readonly head: LogHead | undefined
}

const START: LogPosition = { nextN: 1, epoch: 0, hash: null }

/**
 * Returns how to write the log from now on: the caller encodes its changes again. Throws SESSION_FENCED, SESSION_DELETED, and
 * REMOTE_WENT_BACK if another process has a log that lost segments.
 */
export async function resolveConflict(
  context: StoreContext,
  remote: Remote,
  conflict: Conflict,
): Promise<LogWriter> {
  const { writer, before, head } = conflict
  const { log, fence } = writer
  const { sharing } = context.ledger
  if (fence === null) {
    await resolveThread(context, remote, conflict)
    return writer
  }
  if (head?.isDeleted === true) throw deletedThere(log)
  const isLost = head === undefined || hasGoneBack(head, before)
  const isRetaken = head !== undefined && head.fence > fence && isOwnTake(head, conflict.sinceMs)
  if (head !== undefined && head.fence > fence && !isRetaken)
    throw isLost ? wentBack(log, remote.label) : fencedThere(log)
  // Until the answer to a retake has arrived, it is repeated: what another host wrote before it must be found.
  if (isLost || isRetaken || head.fence < fence) {
    const { lease, head: there } = await retakeLog(context, remote, { ...conflict, log })
    // Asked under the lease, so that no other process can add anything before the base is sent.
    if (head !== undefined && !(await isAllKnownHere(context, remote, log))) {
      await releaseIfReachable(remote, lease)
      throw isLost ? wentBack(log, remote.label) : fencedThere(log)
    }
    sharing.restart(log, there)
    return lease
  }
  if (head.epoch > before.epoch) {
    // The fence was ours all along, and no two takes have the same one, so nothing was added: the log was compacted.
    sharing.restart(log, head)
    return writer
  }
  // Another process of this store has sent it. Otherwise this store is older than it was, such as a backup that was put back.
  const { position } = sharing.get(log) ?? { position: before }
  if (position.nextN === before.nextN && position.hash === before.hash) throw fencedThere(log)
  return writer
}

/** Each writer of a thread or project applies the changes of the others, then sends its own rows. */
async function resolveThread(
  context: StoreContext,
  remote: Remote,
  { writer: { log }, before, head }: Conflict,
): Promise<void> {
  const { sharing } = context.ledger
  sharing.retract(log)
  if (head === undefined || head.isDeleted) return sharing.restart(log, head ?? START)
  await catchUp(context, remote, log, { head })
  // Nothing follows what this store has: another writer has begun again with fewer segments, after a failover.
  const { position } = sharing.get(log) ?? { position: before }
  if (position.nextN === before.nextN && position.hash === before.hash && before.hash !== null)
    await rebaseThread(context, remote, log)
}
