// Claims the sessions of a fleet one after the other until one can be opened.
import {
  type ErrorCode,
  type LogName,
  makeId,
  REMOTE_LEASE_MS,
  SavestateError,
} from '../../../model/index.js'
import type { ClaimedLog, Remote } from '../../../remote/index.js'
import { ownIdentity } from '../../../system/index.js'
import type { StoreContext } from '../../operation/context.js'
import { type Instant, readInstant } from './held-lease.js'
import { withRetries } from '../retry.js'
import { releaseIfReachable } from './take-log.js'
import type { TakenLog } from '../types.js'

type Claiming<Result> = {
  readonly agent: string | undefined
  /** Gives the session up if it fails. */
  readonly open: (taken: TakenLog, sentAt: Instant) => Promise<Result>
  /** Gets the reason why a session was left to others. */
  readonly onUnusable: (notice: string) => void
}

/** Undefined if there is none, or none is left: one bad session must not keep a fleet from the others, nor from new work. */
export async function claimUsable<Result>(
  context: StoreContext,
  remote: Remote,
  { agent, open, onUnusable }: Claiming<Result>,
): Promise<Result | undefined> {
  const except: string[] = []
  for (;;) {
    const sentAt = readInstant(context.clock)
    const claimed = await claimNext(context, remote, { agent, except })
    if (claimed === undefined) return undefined
    const { log } = claimed.lease
    try {
      return await open(await refuseDamaged(remote, claimed), sentAt)
    } catch (error) {
      if (!isOfOneSession(error)) throw error
      except.push(log.id)
      onUnusable(unusableNotice(log, error))
    }
  }
}

/** Each attempt has the same holder: the remote recognizes a claim whose answer was lost. */
function claimNext(
  { clock }: StoreContext,
  remote: Remote,
  request: { readonly agent: string | undefined; readonly except: readonly string[] },
): Promise<ClaimedLog | undefined> {
  const holder = { owner: ownIdentity(), sinceMs: clock.nowMs(), claim: makeId(clock.random) }
  return withRetries(() => remote.claim({ ...request, holder, leaseMs: REMOTE_LEASE_MS }))
}

async function refuseDamaged(remote: Remote, { lease, head }: ClaimedLog): Promise<TakenLog> {
  if (!('damage' in head)) return { lease, head }
  await releaseIfReachable(remote, lease)
  throw head.damage
}

/** The connection and this host are fine: the next session may open. */
const OF_ONE_SESSION: readonly ErrorCode[] = [
  'BAD_INPUT',
  'CHECKPOINT_DAMAGED',
  'CHECKPOINT_PARTIAL',
  'KEY_MISSING',
  'KEY_WRONG',
  'REMOTE_WENT_BACK',
  'SESSION_BUSY',
  'SESSION_DELETED',
  'SESSION_FENCED',
  'STATE_UNREADABLE',
  'STORE_DAMAGED',
  'STORE_NEWER',
]

function isOfOneSession(error: unknown): error is SavestateError {
  return error instanceof SavestateError && OF_ONE_SESSION.includes(error.code)
}

function unusableNotice({ id }: LogName, { code, message }: SavestateError): string {
  return `A claim left the session ${JSON.stringify(id)}, because it cannot be opened here (${code}): ${message}`
}
