// Sends one log to a named remote: takes the lease, applies what others have added there, then sends what is new here.
import { shellQuote } from '../../../base/index.js'
import {
  type ErrorCode,
  type LogName,
  LONG_LEASE_MS,
  type Project,
  SavestateError,
} from '../../../model/index.js'
import type { Remote } from '../../../remote/index.js'
import type { StoreContext } from '../../operation/context.js'
import {
  compactIfReachable,
  releaseLog,
  shipLog,
  type TakenLog,
  takeLog,
} from '../../sharing/index.js'
import { catchUpAndNote } from './catch-up-and-note.js'
import { refuseOtherRemote } from './local-logs.js'
import type { NamedRemote } from '../named-remote.js'

export type SentLog = {
  /** 0: the remote had everything. */
  readonly segments: number
  readonly bytes: number
  /** Checkpoints in these segments: new, or with another name or pin. */
  readonly checkpoints: number
  /** The session that got the steps of this store, because the remote had continued. It is sent too. */
  readonly fork: string | null
}

/**
 * `isGivenUp`: any machine may continue the log afterwards. Otherwise it stays with this one for a while. `isNamed`: the user has named it,
 * so one that was deleted there is created again. Otherwise it throws SESSION_DELETED.
 */
export async function pushLog(
  context: StoreContext,
  named: NamedRemote,
  { log, isGivenUp = false, isNamed = false }: Push,
): Promise<SentLog> {
  const { remote } = named
  refuseOtherRemote(context, named, log)
  const leaseMs = leaseOf(remote)
  const taken = log.kind === 'session' ? await take(context, remote, { log, isNamed }) : undefined
  const from = taken === undefined ? { project: projectOf(context, log) } : { taken }
  // Before anything else can fail: the next push of this store finds its own lease.
  if (taken !== undefined && context.ledger.sharing.get(log) !== undefined)
    context.ledger.sharing.rememberLease(log, taken.lease.fence)
  const { fork = null } = await catchUpAndNote(context, named, log, from)
  context.ledger.sharing.share(log, { remote: await remote.id() })
  // It was created again, so the remote has nothing of it.
  if (taken?.head.hash === null) context.ledger.sharing.restart(log, taken.head)
  let lease = taken?.lease
  const { segments, bytes, checkpoints, removal } = await shipLog(
    context,
    remote,
    lease ?? { log, fence: null },
    {
      leaseMs,
      sinceMs: context.openedAtMs,
      onLease: (it) => {
        lease = it
      },
    },
  )
  if (removal !== undefined) await compactIfReachable(remote, { log, ...removal })
  if (isGivenUp && lease !== undefined) await releaseLog(remote, lease)
  if (fork === null) return { segments, bytes, checkpoints, fork }
  const also = await pushLog(context, named, { log: { kind: 'session', id: fork }, isGivenUp })
  return {
    segments: segments + also.segments,
    bytes: bytes + also.bytes,
    checkpoints: checkpoints + also.checkpoints,
    fork,
  }
}

/** For a log that is new here: a repair has forgotten that it is shared. */
function projectOf({ ledger }: StoreContext, log: LogName): Project | undefined {
  const id = log.kind === 'project' ? ledger.sharing.projectOf(log) : null
  return id === null ? undefined : ledger.project(id)
}

/** A laptop that sleeps keeps its session. A lease in a git repository never expires. */
export function leaseOf({ kind }: Remote): number | null {
  return kind === 'git' ? null : LONG_LEASE_MS
}

type Push = {
  readonly log: LogName
  readonly isGivenUp?: boolean
  readonly isNamed?: boolean
}

/** Creates the log there if it is unknown. Throws SESSION_BUSY if another store has it. */
async function take(
  context: StoreContext,
  remote: Remote,
  request: { readonly log: LogName; readonly isNamed: boolean },
): Promise<TakenLog> {
  try {
    return await takeOrCreate(context, remote, request)
  } catch (error) {
    if (!(error instanceof SavestateError) || error.code !== 'SESSION_BUSY') throw error
    const id = shellQuote(request.log.id)
    throw new SavestateError('SESSION_BUSY', error.message, {
      hint: `Give it up there with \`savestate handoff ${id}\`, or take it from there with \`savestate pull ${id} --take\`, then push again.`,
      cause: error,
    })
  }
}

async function takeOrCreate(
  context: StoreContext,
  remote: Remote,
  { log, isNamed }: { readonly log: LogName; readonly isNamed: boolean },
): Promise<TakenLog> {
  const { ledger, openedAtMs: sinceMs } = context
  const request = { log, leaseMs: leaseOf(remote), ofStore: true, sinceMs }
  if (ledger.sharing.get(log) !== undefined) {
    try {
      return await takeLog(context, remote, request)
    } catch (error) {
      const codes: readonly ErrorCode[] = ['SESSION_UNKNOWN', ...(isNamed ? DELETED : [])]
      if (!(error instanceof SavestateError) || !codes.includes(error.code)) throw error
    }
  }
  const session = ledger.sessions.byId(log.id)
  const projectId = session?.project ?? null
  const project = projectId === null ? undefined : ledger.project(projectId)
  const create = { agent: session?.agent ?? null, project }
  return takeLog(context, remote, { ...request, create })
}

const DELETED = ['SESSION_DELETED'] as const
