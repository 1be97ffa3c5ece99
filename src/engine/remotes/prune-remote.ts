// Applies the retention settings of this store to the sessions of a remote that no process has, then compacts logs and removes packs that
// nothing needs. Works in a temporary store, so that sessions of others do not come here. Sessions in use prune themselves.
import { type LogName, SavestateError } from '../../model/index.js'
import type { SharedLog } from '../../ledger/index.js'
import type { LogHead } from '../../remote/index.js'
import type { Callbacks } from '../operation/callbacks.js'
import type { StoreContext } from '../operation/context.js'
import { prune } from '../prune/prune.js'
import { catchUp, compactIfWorth, releaseLog, shipLog, takeLog } from '../sharing/index.js'
import { type NamedRemote, withRemote } from './named-remote.js'
import { isInUse, nameText, selectSessions, sizesOf } from './prune-selection.js'
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
  context: StoreContext,
  { scratch, remote: name, dryRun = false, callbacks }: Request,
): Promise<PruneRemoteResult> {
  return withRemote(context, name, async (named) => {
    const { remote } = named
    const { due, inUse, record } = await selectSessions(context, remote)
    const work = { context, scratch, named }
    const read = await readLogs(work, due, callbacks)
    const input = { dryRun: false, keepOrphans: true, maxSizeMb: NO_SIZE_LIMIT_MB }
    const plan = await prune.run(scratch, input, dryRun ? showOnly(callbacks) : callbacks)
    const view = viewRemote(named.entry)
    if (dryRun || !plan.applied)
      return { ...NOTHING, remote: view, declined: !plan.applied, skipped: inUse.length }
    const { skipped: lost, ...sent } = await sendRemovals(work, read)
    const compacted = await compactLogs(work)
    const { removed: packs, bytes: packBytes } = await remote.collectPacks()
    record(lost)
    const skipped = inUse.length + lost.length
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

type Work = {
  readonly context: StoreContext
  readonly scratch: StoreContext
  readonly named: NamedRemote
}

type ReadLog = {
  readonly log: LogName
  readonly checkpoints: number
  /** This store has it: a session on a git server. */
  readonly isOurs: boolean
}

async function readLogs(
  { scratch, named: { remote } }: Work,
  heads: readonly LogHead[],
  { signal }: Pick<Callbacks, 'signal'>,
): Promise<readonly ReadLog[]> {
  const read: ReadLog[] = []
  for (const head of heads) {
    signal?.throwIfAborted()
    const { log } = head
    const project = temporaryProject(scratch, head.project)
    await unlessLost(() => catchUp(scratch, remote, log, { head, project }))
    read.push({ log, checkpoints: countOf(scratch, log), isOurs: head.holder !== null })
  }
  return read
}

type Sent = Pick<PruneRemoteResult, 'checkpoints' | 'deletedSessions'> & {
  readonly skipped: readonly LogName[]
}

async function sendRemovals(work: Work, read: readonly ReadLog[]): Promise<Sent> {
  const { scratch } = work
  const skipped: LogName[] = []
  const sent = { checkpoints: 0, deletedSessions: 0, skipped }
  for (const { log, checkpoints, isOurs } of read) {
    const shared = scratch.ledger.sharing.get(log)
    if (shared === undefined || !(shared.isDirty || shared.isDeleted)) continue
    if ((await unlessLost(() => sendRemoval(work, shared, isOurs))) !== true) skipped.push(log)
    else {
      sent.checkpoints += checkpoints - countOf(scratch, log)
      if (shared.isDeleted) sent.deletedSessions += 1
    }
  }
  return sent
}

/** Holds the log only meanwhile: a killed prune must not keep others from their sessions. False if it has continued. */
async function sendRemoval(
  { context, scratch, named: { remote } }: Work,
  { log, position, isDeleted }: SharedLog,
  isOurs: boolean,
): Promise<boolean> {
  const leaseMs = remote.kind === 'git' ? null : LEASE_MS
  const { lease, head } = await takeLog(context, remote, { log, leaseMs, ofStore: isOurs })
  try {
    if (head.hash !== position.hash || head.epoch !== position.epoch) return false
    if (isDeleted) return await remote.deleteLog(log, lease.fence)
    await shipLog(scratch, remote, lease, { leaseMs })
    return true
  } finally {
    if (isOurs) context.ledger.sharing.rememberLease(log, lease.fence)
    else await releaseLog(remote, lease)
  }
}

function countOf({ ledger }: StoreContext, { id }: LogName): number {
  const session = ledger.sessions.byId(id)
  return session === undefined ? 0 : ledger.checkpoints.count({ session: session.key })
}

async function compactLogs({ context, named: { remote } }: Work): Promise<number> {
  const sizes = await sizesOf(remote)
  let compacted = 0
  for (const head of await remote.heads()) {
    const { log, card } = head
    if (card === null || isInUse(context, remote, head)) continue
    const size = sizes.get(nameText(log))
    if (await compactIfWorth(remote, { log, steps: card.steps, size })) compacted += 1
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
