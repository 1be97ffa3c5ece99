// Applies the retention settings of this store to the sessions of a remote that no process has, then compacts logs and removes packs that
// nothing needs. Works in a temporary store, so that sessions of others do not come here. Sessions in use prune themselves.
import { compactSegments, type LogName, SavestateError } from '../../model/index.js'
import type { SharedLog } from '../../ledger/index.js'
import type { LogHead } from '../../remote/index.js'
import type { Callbacks } from '../operation/callbacks.js'
import type { StoreContext } from '../operation/context.js'
import { prune } from '../prune/prune.js'
import { catchUp, releaseLog, shipLog, takeLog } from '../sharing/index.js'
import { type NamedRemote, withRemote } from './named-remote.js'
import { type RemoteView, viewRemote } from './remotes-file.js'
import { temporaryProject } from './temporary-project.js'

export type PruneRemoteResult = {
  readonly remote: RemoteView
  /** The user did not agree: nothing was removed. */
  readonly declined: boolean
  readonly checkpoints: number
  readonly deletedSessions: number
  /** Sessions that some process has, or has taken meanwhile. */
  readonly skipped: number
  readonly compacted: number
  readonly packs: number
  readonly packBytes: number
}

type Request = {
  /** An empty store with the settings of this one, which the caller removes. */
  readonly scratch: StoreContext
  readonly remote?: string | undefined
  /** Removes nothing: `confirmPrune` gets the plan. */
  readonly dryRun?: boolean | undefined
  readonly callbacks: Pick<Callbacks, 'signal' | 'confirmPrune'>
}

/** The size of a remote has no limit here: its administrator knows what fits. */
const NO_SIZE_LIMIT_MB = 1e9
/** To send one removal. */
const LEASE_MS = 60_000

export async function pruneRemote(
  context: Pick<StoreContext, 'home'>,
  { scratch, remote: name, dryRun = false, callbacks }: Request,
): Promise<PruneRemoteResult> {
  return withRemote(context, name, async (named) => {
    const { remote } = named
    const heads = await remote.heads({ kind: 'session' })
    const unheld = heads.filter(({ holder }) => holder === null)
    const read = await readLogs(scratch, named, { heads: unheld, signal: callbacks.signal })
    const input = { dryRun: false, keepOrphans: true, maxSizeMb: NO_SIZE_LIMIT_MB }
    const plan = await prune.run(scratch, input, dryRun ? showOnly(callbacks) : callbacks)
    const view = viewRemote(named.entry)
    const inUse = heads.length - unheld.length
    if (dryRun || !plan.applied)
      return { ...NOTHING, remote: view, declined: !plan.applied, skipped: inUse }
    const sent = await sendRemovals(scratch, named, read)
    const compacted = await compactLogs(named)
    const { removed: packs, bytes: packBytes } = await remote.collectPacks()
    const skipped = inUse + sent.skipped
    return { remote: view, declined: false, ...sent, skipped, compacted, packs, packBytes }
  })
}

const NOTHING = { checkpoints: 0, deletedSessions: 0, compacted: 0, packs: 0, packBytes: 0 }

function showOnly({ signal, confirmPrune }: Request['callbacks']): Request['callbacks'] {
  return {
    signal,
    confirmPrune: async (planned) => {
      await confirmPrune?.(planned)
      return false
    },
  }
}

type ReadLog = { readonly log: LogName; readonly checkpoints: number }

async function readLogs(
  scratch: StoreContext,
  { remote }: NamedRemote,
  { heads, signal }: { readonly heads: readonly LogHead[] } & Pick<Callbacks, 'signal'>,
): Promise<readonly ReadLog[]> {
  const read: ReadLog[] = []
  for (const head of heads) {
    signal?.throwIfAborted()
    const { log } = head
    const project = temporaryProject(scratch, head.project)
    await unlessLost(() => catchUp(scratch, remote, log, { head, project }))
    read.push({ log, checkpoints: countOf(scratch, log) })
  }
  return read
}

type Sent = Pick<PruneRemoteResult, 'checkpoints' | 'deletedSessions' | 'skipped'>

async function sendRemovals(
  scratch: StoreContext,
  named: NamedRemote,
  read: readonly ReadLog[],
): Promise<Sent> {
  const sent = { checkpoints: 0, deletedSessions: 0, skipped: 0 }
  for (const { log, checkpoints } of read) {
    const shared = scratch.ledger.sharing.get(log)
    if (shared === undefined || !(shared.isDirty || shared.isDeleted)) continue
    if ((await unlessLost(() => sendRemoval(scratch, named, shared))) !== true) sent.skipped += 1
    else {
      sent.checkpoints += checkpoints - countOf(scratch, log)
      if (shared.isDeleted) sent.deletedSessions += 1
    }
  }
  return sent
}

/** Holds the log only meanwhile: a killed prune must not keep others from their sessions. False if it has continued. */
async function sendRemoval(
  scratch: StoreContext,
  { remote }: NamedRemote,
  { log, position, isDeleted }: SharedLog,
): Promise<boolean> {
  const { lease, head } = await takeLog(scratch, remote, { log, leaseMs: LEASE_MS })
  try {
    if (head.hash !== position.hash || head.epoch !== position.epoch) return false
    if (isDeleted) return await remote.deleteLog(log, lease.fence)
    await shipLog(scratch, remote, lease, { leaseMs: LEASE_MS })
    return true
  } finally {
    if (!isDeleted) await releaseLog(remote, lease)
  }
}

function countOf({ ledger }: StoreContext, { id }: LogName): number {
  const session = ledger.sessions.byId(id)
  return session === undefined ? 0 : ledger.checkpoints.count({ session: session.key })
}

async function compactLogs({ remote }: NamedRemote): Promise<number> {
  let compacted = 0
  for (const { log } of await remote.heads())
    if (await remote.compact(log, (contents) => compactSegments(contents, log))) compacted += 1
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
