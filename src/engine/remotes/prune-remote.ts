// Applies the retention settings of this store to the sessions of a remote that no process has, then compacts logs and removes packs that
// nothing needs. Works in a scratch store, so that sessions of others do not come here. Sessions in use prune themselves.
import {
  compactSegments,
  type LogName,
  REMOTE_LEASE_MS,
  SavestateError,
} from '../../model/index.js'
import type { RemoteLease } from '../../remote/index.js'
import type { Callbacks } from '../operation/callbacks.js'
import type { StoreContext } from '../operation/context.js'
import { prune } from '../prune/prune.js'
import { catchUp, releaseLog, shipLog, takeLog } from '../sharing/index.js'
import { type NamedRemote, withRemote } from './named-remote.js'
import { reportErrorsOfOne } from './one-log.js'
import { type RemoteView, viewRemote } from './remotes-file.js'

export type PruneRemoteResult = {
  readonly remote: RemoteView
  /** The user did not agree: nothing was removed. */
  readonly declined: boolean
  readonly checkpoints: number
  readonly deletedSessions: number
  /** Sessions that some process has. */
  readonly skipped: number
  readonly compacted: number
  readonly packs: number
  readonly packBytes: number
}

type Request = {
  /** An empty store with the settings of this one, which the caller removes. */
  readonly scratch: StoreContext
  readonly remote?: string | undefined
  readonly callbacks: Pick<Callbacks, 'signal' | 'confirmPrune'>
}

/**
 * Nothing prolongs it, and a prune may take longer, or be killed. Then any process may take the session, and what was planned for it is
 * not sent. A longer lease would keep all sessions from all hosts.
 */
const LEASE_MS = REMOTE_LEASE_MS

/** The size of a remote has no limit here: its administrator knows what fits. */
const NO_SIZE_LIMIT_MB = 1e9

export async function pruneRemote(
  context: Pick<StoreContext, 'home'>,
  { scratch, remote: name, callbacks }: Request,
): Promise<PruneRemoteResult> {
  return withRemote(context, name, async (named) => {
    const { remote } = named
    const heads = await remote.heads({ kind: 'session' })
    const taken = await takeUnheld(
      scratch,
      named,
      heads.filter((it) => it.holder === null).map(({ log }) => log),
    )
    try {
      const pruned = await pruneTaken(scratch, named, { taken, callbacks })
      const compacted = pruned.declined ? 0 : await compactLogs(named)
      const { removed, bytes } = pruned.declined ? NOTHING : await remote.collectPacks()
      return {
        remote: viewRemote(named.entry),
        ...pruned,
        skipped: heads.length - taken.length,
        compacted,
        packs: removed,
        packBytes: bytes,
      }
    } finally {
      for (const lease of taken) await releaseLog(remote, lease)
    }
  })
}

const NOTHING = { removed: 0, bytes: 0 }

/** Without those that another process takes at the same time. */
async function takeUnheld(
  scratch: StoreContext,
  { remote }: NamedRemote,
  logs: readonly LogName[],
): Promise<readonly RemoteLease[]> {
  const taken: RemoteLease[] = []
  for (const log of logs) {
    const lease = await unlessLost(async () => {
      const { lease: own, head } = await takeLog(scratch, remote, { log, leaseMs: LEASE_MS })
      await catchUp(scratch, remote, log, { taken: { lease: own, head } })
      return own
    })
    if (lease !== undefined) taken.push(lease)
  }
  return taken
}

async function pruneTaken(
  scratch: StoreContext,
  { remote }: NamedRemote,
  {
    taken,
    callbacks,
  }: { readonly taken: readonly RemoteLease[]; readonly callbacks: Request['callbacks'] },
): Promise<Pick<PruneRemoteResult, 'declined' | 'checkpoints' | 'deletedSessions'>> {
  const input = { dryRun: false, keepOrphans: true, maxSizeMb: NO_SIZE_LIMIT_MB }
  const result = await prune.run(scratch, input, callbacks)
  if (!result.applied) return { declined: true, checkpoints: 0, deletedSessions: 0 }
  for (const lease of taken) await unlessLost(() => sendPruned(scratch, remote, lease))
  const { deletedCheckpoints, deletedSessions } = result
  return { declined: false, checkpoints: deletedCheckpoints, deletedSessions }
}

async function sendPruned(
  scratch: StoreContext,
  remote: NamedRemote['remote'],
  lease: RemoteLease,
): Promise<void> {
  const shared = scratch.ledger.sharing.get(lease.log)
  if (shared?.isDeleted === true) await remote.deleteLog(lease.log, lease.fence)
  else if (shared?.isDirty === true) await shipLog(scratch, remote, lease, { leaseMs: LEASE_MS })
}

async function compactLogs({ remote }: NamedRemote): Promise<number> {
  let compacted = 0
  for (const { log } of await remote.heads()) {
    // A log that is too long for one segment must not stop the others.
    const { value: isCompacted } = await reportErrorsOfOne(() =>
      remote.compact(log, (contents) => compactSegments(contents, log)),
    )
    if (isCompacted === true) compacted += 1
  }
  return compacted
}

/** Undefined if another process has the log by now, or deleted it: it is theirs to prune. */
async function unlessLost<Value>(work: () => Promise<Value>): Promise<Value | undefined> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof SavestateError && LOSSES.includes(error.code)) return undefined
    throw error
  }
}

const LOSSES = ['SESSION_BUSY', 'SESSION_FENCED', 'SESSION_DELETED', 'SESSION_UNKNOWN']
