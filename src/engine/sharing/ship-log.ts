// Sends what a log has gained since its last segment (docs/internals/shared.md#order-of-writes).
import type { PreparedSegment } from '../../ledger/index.js'
import { type LogName, nameOf, pathText, type Project } from '../../model/index.js'
import type { CommitResult, Remote, RemoteLease } from '../../remote/index.js'
import { failpoint } from '../../system/index.js'
import type { StoreContext } from '../operation/context.js'
import { findReplaced } from './catch-up.js'
import { type Instant, readInstant } from './leases/held-lease.js'
import { remoteIdOf, remoteProjectOf } from './project-identity.js'
import { resolveConflict } from './resolve-conflict.js'
import { fencedThere, lacksPacks } from './share-errors.js'
import { planPacks, rebuildPacks, sendPacks } from './ship-packs.js'
import type { LogWriter, ShippedLog } from './types.js'

/** A collection removes a pack that is about to be used once, or twice. A pack that is missing each time is not here either. */
const MAX_REBUILDS = 5

export type ShipOptions = {
  /** Prolongs the lease; null for logs without one, and for leases that never expire. */
  readonly leaseMs: number | null
  /** When the holder began, for a log that has to be taken again. The same for each attempt: it recognizes its own take. */
  readonly sinceMs?: number | undefined
  /** Gets the lease with which the log is written from then on: a remote that went back gave a new one. */
  readonly onLease?: (lease: RemoteLease) => void
}

/**
 * Shares a log that was not shared yet, and sends the pending segment and all changes after it. Returns once the remote has committed
 * everything that was here at the call.
 *
 * Throws SESSION_FENCED if another process has the log by now, REMOTE_WENT_BACK if the remote has lost segments and another process
 * has the log, SESSION_DELETED, BAD_INPUT if the log is shared through another remote, and the errors of a remote. Then everything is
 * still here, and a later call sends it.
 */
export async function shipLog(
  context: StoreContext,
  remote: Remote,
  given: LogWriter,
  { leaseMs, sinceMs, onLease }: ShipOptions,
): Promise<ShippedLog> {
  const { sharing } = context.ledger
  const { log } = given
  share(context, given, await remote.id())
  let writer = given
  let rebuilt = 0
  let shipped: ShippedLog = { segments: 0, bytes: 0, checkpoints: 0 }
  for (;;) {
    const { isPending: wasPending = false, needsBase = false } = sharing.get(log) ?? {}
    const replaced = needsBase && !wasPending ? await findReplaced(context, remote, log) : undefined
    await planPacks(context, log)
    failpoint('share:packed')
    const prepared = sharing.prepare(log, (content, position) =>
      remote.encode(log, position, replaced === undefined ? content : { ...content, replaced }),
    )
    if (prepared === undefined) return shipped
    failpoint('share:encoded')
    const { result, sentAt } = await send(context, remote, { writer, leaseMs, prepared })
    if (result.kind === 'done') {
      failpoint('share:sent')
      sharing.acknowledge(log, result.position)
      failpoint('share:acked')
      if (result.isFenced === true) throw fencedThere(log)
      const { steps } = prepared.card
      shipped = {
        ...shipped,
        ...(prepared.isRemoval ? { removal: { steps } } : {}),
        segments: shipped.segments + 1,
        bytes: shipped.bytes + prepared.segment.body.length,
        checkpoints: shipped.checkpoints + prepared.checkpoints.length,
        renewedAt: sentAt,
      }
      // A segment that this call has encoded has everything that was here.
      if (!wasPending) return shipped
    } else if (result.kind === 'missing-pack') {
      if (rebuilt === MAX_REBUILDS) throw lacksPacks(log, remote.label)
      rebuildPacks(context, log, { ...prepared, isAgain: rebuilt === 1 })
      rebuilt += 1
    } else {
      const { before } = prepared
      writer = await resolveConflict(context, remote, {
        writer,
        leaseMs,
        sinceMs,
        before,
        head: result.head,
      })
      if (writer.fence !== null) {
        sharing.rememberLease(log, writer.fence)
        onLease?.(writer)
      }
    }
  }
}

function share(
  { ledger: { sharing } }: StoreContext,
  { log, fence }: LogWriter,
  remote: string,
): void {
  const known = sharing.get(log)
  if (known?.remote !== remote) sharing.share(log, { remote })
  if (fence !== null && known?.fence !== fence) sharing.rememberLease(log, fence)
}

type Sending = {
  readonly writer: LogWriter
  readonly leaseMs: number | null
  readonly prepared: PreparedSegment
}

async function send(
  context: StoreContext,
  remote: Remote,
  { writer: { log, fence }, leaseMs, prepared }: Sending,
): Promise<{ readonly result: CommitResult; readonly sentAt: Instant }> {
  const project = findProject(context, log)
  const projectId = project === undefined ? null : remoteIdOf(context, project)
  const packs = await sendPacks(context, remote, { packs: prepared.packs, project: projectId })
  failpoint('share:uploaded')
  const sentAt = readInstant(context.clock)
  if (packs === 'missing-pack') return { result: { kind: packs }, sentAt }
  const { packs: _, isRemoval: _removal, ...commit } = prepared
  const name = project === undefined ? null : pathText(nameOf(project.path))
  const card = { ...commit.card, project: name }
  const created =
    log.kind === 'project' && project !== undefined
      ? { project: remoteProjectOf(context, project) }
      : {}
  const result = await remote.commit({ ...commit, ...created, card, log, fence, packs, leaseMs })
  return { result, sentAt }
}

function findProject({ ledger }: StoreContext, log: LogName): Project | undefined {
  if (log.kind === 'thread') return undefined
  const projectId =
    log.kind === 'project'
      ? ledger.sharing.projectOf(log)
      : (ledger.sessions.byId(log.id)?.project ?? null)
  return projectId === null ? undefined : ledger.project(projectId)
}
