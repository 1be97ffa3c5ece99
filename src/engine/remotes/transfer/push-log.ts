// Sends one log to a named remote: takes the lease, applies what others have added there, then sends what is new here.
import { type LogName, LONG_LEASE_MS, type Project } from '../../../model/index.js'
import type { Remote } from '../../../remote/index.js'
import type { StoreContext } from '../../operation/context.js'
import { catchUp, releaseLog, shipLog, type TakenLog, takeLog } from '../../sharing/index.js'
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

/** `isGivenUp`: any machine may continue the log afterwards. Otherwise it stays with this one for a while. */
export async function pushLog(
  context: StoreContext,
  named: NamedRemote,
  { log, isGivenUp = false }: { readonly log: LogName; readonly isGivenUp?: boolean },
): Promise<SentLog> {
  const { remote } = named
  refuseOtherRemote(context, named, log)
  const leaseMs = leaseOf(remote)
  const taken = log.kind === 'session' ? await take(context, remote, log) : undefined
  const from = taken === undefined ? { project: projectOf(context, log) } : { taken }
  const { fork = null } = await catchUp(context, remote, log, from)
  context.ledger.sharing.share(log, { remote: await remote.id() })
  const writer = taken?.lease ?? { log, fence: null }
  const shipped = await shipLog(context, remote, writer, { leaseMs })
  const { segments, bytes, checkpoints, writer: last } = shipped
  if (isGivenUp && last.fence !== null) await releaseLog(remote, last)
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

/** Creates the log there if it is unknown or was deleted. */
async function take(context: StoreContext, remote: Remote, log: LogName): Promise<TakenLog> {
  const { ledger } = context
  const session = ledger.sessions.byId(log.id)
  const projectId = session?.project ?? null
  const project = projectId === null ? undefined : ledger.project(projectId)
  const create = { agent: session?.agent ?? null, project }
  return takeLog(context, remote, { log, leaseMs: leaseOf(remote), create })
}
