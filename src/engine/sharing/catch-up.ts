// Brings what was shared since to this host.
import type { SharedLog } from '../../ledger/index.js'
import {
  areAfter,
  type LogName,
  type LogPosition,
  makeId,
  parseCheckpointId,
  type Project,
  replacedBy,
  type SegmentMark,
  SavestateError,
} from '../../model/index.js'
import type { DecodedSegment, LogHead, Remote } from '../../remote/index.js'
import { type Clock, failpoint, ownIdentity } from '../../system/index.js'
import type { StoreContext } from '../operation/context.js'
import { isHeld } from '../sessions/open-session.js'
import { deletedThere } from './share-errors.js'
import type { CaughtUp, TakenLog } from './types.js'

export type CatchUpOptions = {
  /** If the caller has just taken the log: its head needs no question. */
  readonly taken?: TakenLog
  /** The same for a caller that has read the head. */
  readonly head?: LogHead
  /** The project here of a session that is new here. */
  readonly project?: Project | undefined
}

/**
 * Applies the segments after the last one known here, also to a log that is new here. If this host has steps that were not shared,
 * and the remote has continued, the local steps become a fork. If the remote has lost what it had confirmed, everything is sent again
 * with the next ship, unless another host has continued there: then the local steps become a fork too. Fetches no files.
 *
 * Throws SESSION_DELETED, SESSION_BUSY while a process of this host writes the session, BAD_INPUT if the log is shared through another
 * remote, and the errors of a remote.
 */
export async function catchUp(
  context: StoreContext,
  remote: Remote,
  log: LogName,
  options: CatchUpOptions = {},
): Promise<CaughtUp> {
  const { sharing } = context.ledger
  const remoteId = await remote.id()
  // A prune has removed the copy here, and the remote still has the session or project.
  if (sharing.get(log)?.isDeleted === true) sharing.unshare(log)
  const known = sharing.get(log)
  if (known !== undefined && known.remote !== remoteId) throw onOtherRemote(log)
  const given =
    options.taken?.head ??
    options.head ??
    (log.kind === 'session' ? await remote.head(log) : undefined)
  // A head from before `known` proves nothing: another call may have written since.
  const isOld = options.taken === undefined && known !== undefined
  const isBehind = given !== undefined && isOld && hasGoneBack(given, known.position)
  const head = isBehind ? await remote.head(log) : given
  if (log.kind === 'session') {
    if (head === undefined) return NOTHING
    if (head.isDeleted) throw deletedThere(log)
  }
  if (head !== undefined && isSamePosition(head, known?.position ?? START)) return NOTHING
  const work = { context, remote, remoteId, log, head, project: options.project }
  if (head !== undefined && known !== undefined && hasGoneBack(head, known.position))
    return resolveLoss(work)
  try {
    return await applyNew(work, known)
  } catch (error) {
    // It went back, and has continued past the position of this store since.
    if (!(error instanceof SavestateError) || error.code !== 'REMOTE_WENT_BACK') throw error
    return resolveLoss(work)
  }
}

const NOTHING: CaughtUp = { segments: 0 }
const START: LogPosition = { nextN: 1, epoch: 0, hash: null }

type Work = {
  readonly context: StoreContext
  readonly remote: Remote
  readonly remoteId: string
  readonly log: LogName
  readonly head: LogHead | undefined
  readonly project: Project | undefined
}

/**
 * Whether the remote has less than, or something else than, what it confirmed. No number is used twice, so a lower number proves it,
 * whatever the epoch: a compaction that came after the loss raises it. A log that was created again has the same number and no hash.
 */
export function hasGoneBack(there: LogPosition, { nextN, epoch, hash }: LogPosition): boolean {
  return (
    there.epoch < epoch ||
    there.nextN < nextN ||
    (there.nextN === nextN && there.hash !== null && there.hash !== hash)
  )
}

async function applyNew(work: Work, known: SharedLog | undefined): Promise<CaughtUp> {
  const { context, remote, log } = work
  const { nextN, hash, epoch } = known?.position ?? START
  const segments = await readSegments(remote, log, { n: nextN - 1, hash, epoch })
  if (segments.length === 0) return NOTHING
  // Another host continued where a failover had lost what this host has, and then a compaction replaced both.
  if (log.kind === 'session' && hash !== null && !areAfter(segments, hash)) return resolveLoss(work)
  refuseOpenHere(context, log)
  if (known?.isPending === true) settlePending(work, segments)
  const applied = await applySegments(work, segments)
  if (applied !== 'diverged') return { segments: segments.length }
  return { segments: segments.length, ...(await split(work)) }
}

/** The pending segment is among those of the remote, because an answer was lost; or else it never got there. */
function settlePending({ context, remote, log }: Work, segments: readonly DecodedSegment[]): void {
  const { sharing } = context.ledger
  const pending = sharing.prepare(log, (content, position) => remote.encode(log, position, content))
  if (pending === undefined) return
  const { n, hash } = pending.segment
  const isThere = segments.some((segment) => segment.n === n && segment.hash === hash)
  if (!isThere) sharing.retract(log)
  else {
    const epoch = pending.before.epoch + (pending.isBase ? 1 : 0)
    sharing.acknowledge(log, { nextN: n + 1, epoch, hash })
  }
}

async function applySegments(
  work: Work,
  segments: readonly DecodedSegment[],
): Promise<'applied' | 'diverged'> {
  const { remote, log } = work
  const first = await apply(work, segments)
  // A collection here has removed what a segment builds on.
  const result =
    first === 'incomplete' ? await apply(work, await readSegments(remote, log, ALL)) : first
  if (result === 'incomplete')
    throw new SavestateError(
      'STORE_DAMAGED',
      `The remote lacks segments of the ${log.kind} ${log.id}`,
      {
        hint: 'Run `savestate verify --remote`.',
      },
    )
  if (result === 'applied') failpoint('share:applied')
  return result
}

const ALL = { n: 0, hash: null, epoch: 0 }

async function apply(work: Work, segments: readonly DecodedSegment[]) {
  const { context, remote, remoteId, log, project } = work
  // Anyone may write a thread or project, so after a base the epoch is read again: a head from before it would never match.
  const hasBase = segments.some(({ content }) => content.isBase)
  const head = log.kind !== 'session' && hasBase ? await remote.head(log) : work.head
  const { sharing } = context.ledger
  const epoch = head?.epoch ?? sharing.get(log)?.position.epoch ?? 0
  const projectId = project?.id ?? null
  return sharing.apply(log, { segments, remote: remoteId, epoch, project: projectId })
}

/** The steps of this host become a session of their own, and the session itself becomes what the remote has. */
async function split(work: Work): Promise<Pick<CaughtUp, 'fork'>> {
  const { context, remote, remoteId, log } = work
  const { ledger, clock } = context
  const segments = await readSegments(remote, log, ALL)
  const { fork } = ledger.sharing.splitTail(log, {
    remote: remoteId,
    forkId: forkIdOf(log, { remote, clock }),
    checkpointId: parseCheckpointId(makeId(clock.random)),
    atMs: clock.nowMs(),
    segments,
  })
  failpoint('share:split')
  await applySegments(work, segments)
  return fork === null ? {} : { fork }
}

/** A failover lost commits that the remote had confirmed, and other hosts may have continued from there. */
async function resolveLoss(work: Work): Promise<CaughtUp> {
  const { context, remote, log, head } = work
  const { sharing } = context.ledger
  if (log.kind !== 'session') return rebaseThread(context, remote, log)
  if (await isAllKnownHere(context, remote, log)) {
    sharing.restart(log, head ?? START)
    return NOTHING
  }
  refuseOpenHere(context, log)
  // Steps that the remote had confirmed are only here now, so they belong to the fork.
  sharing.unshare(log)
  return { segments: 0, ...(await split(work)) }
}

/**
 * The remote has lost rows of a thread or project that it had confirmed, and others may have continued it since. Both sides stay: all
 * rows of this store count as not sent.
 */
export async function rebaseThread(
  context: StoreContext,
  remote: Remote,
  log: LogName,
): Promise<CaughtUp> {
  const { sharing } = context.ledger
  sharing.restart(log, START)
  const work = { context, remote, remoteId: await remote.id(), log, head: undefined }
  return applyNew({ ...work, project: undefined }, sharing.get(log))
}

/** Whether no other host has written anything: then everything can be sent again, and nothing is lost. */
export async function isAllKnownHere(
  { ledger }: StoreContext,
  remote: Remote,
  log: LogName,
): Promise<boolean> {
  const segments = await readSegments(remote, log, ALL)
  return ledger.sharing.hasHadAll(
    log,
    segments.map(({ content }) => content),
  )
}

/** The segments that a base replaces if it is sent now. Undefined if it begins the log. */
export async function findReplaced(
  { ledger }: StoreContext,
  remote: Remote,
  log: LogName,
): Promise<readonly SegmentMark[] | undefined> {
  const known = ledger.sharing.get(log)
  if (known === undefined || known.position.hash === null) return undefined
  return replacedBy(await readSegments(remote, log, ALL))
}

async function readSegments(
  remote: Remote,
  log: LogName,
  after: Parameters<Remote['segments']>[1],
): Promise<readonly DecodedSegment[]> {
  const segments: DecodedSegment[] = []
  for await (const segment of remote.segments(log, after)) segments.push(segment)
  return segments
}

function isSamePosition(a: LogPosition, b: LogPosition): boolean {
  return a.nextN === b.nextN && a.epoch === b.epoch && a.hash === b.hash
}

/** Its writer would continue from a state that is no longer the last one. */
function refuseOpenHere({ ledger, clock }: StoreContext, log: LogName): void {
  if (log.kind !== 'session') return
  const lease = ledger.sessions.byId(log.id)?.lease ?? null
  if (!isHeld(lease, clock.nowMs())) return
  throw new SavestateError(
    'SESSION_BUSY',
    `Process ${lease?.owner.pid} of this machine is writing to the session ${JSON.stringify(log.id)}, which has continued elsewhere`,
    { hint: 'Wait until it ends, then try again.' },
  )
}

const MAX_ID_CHARS = 140

/** As in `task~laptop-20261118T204700123`. Every server reads ids: with a key, letters by chance replace the name of the host. */
function forkIdOf(
  { id }: LogName,
  { remote, clock }: { readonly remote: Remote; readonly clock: Clock },
): string {
  const time = new Date(clock.nowMs()).toISOString().replaceAll(/[-:.Z]/g, '')
  const host = remote.isSealed ? makeId(clock.random).slice(0, 8) : ownIdentity().host.slice(0, 30)
  return `${forkPrefixOf(id)}${host}-${time}`
}

/** Every fork that a divergence makes of this session has an id that begins like this. */
export function forkPrefixOf(id: string): string {
  return `${id.slice(0, MAX_ID_CHARS)}~`
}

function onOtherRemote({ kind, id }: LogName): SavestateError {
  return new SavestateError(
    'BAD_INPUT',
    `The ${kind} ${JSON.stringify(id)} is shared through another remote`,
    { hint: 'A session is on one remote at a time. Fork it to share it on another one.' },
  )
}
