// Ships the changes of a session that no process of this host has open: a new name of a checkpoint, a prune, a write without a lease.
import { type LogName, REMOTE_LEASE_MS } from '../../model/index.js'
import type { Remote } from '../../remote/index.js'
import type { StoreContext } from '../operation/context.js'
import { catchUp } from './catch-up.js'
import { compactIfReachable } from './compact-log.js'
import { continuedElsewhere } from './share-errors.js'
import { shipLog } from './ship-log.js'
import { releaseIfReachable, takeLog } from './leases/take-log.js'

/** Takes the session for a moment. Throws as `takeLog`, `catchUp` and `shipLog`, and SESSION_FENCED if its changes became a fork. */
export async function shipClosed(
  context: StoreContext,
  remote: Remote,
  { log, sinceMs }: { readonly log: LogName; readonly sinceMs: number },
): Promise<void> {
  const { ledger } = context
  const session = ledger.sessions.byId(log.id)
  const projectId = session?.project ?? null
  const project = projectId === null ? undefined : ledger.project(projectId)
  // The remote never had it.
  const isNew = ledger.sharing.get(log)?.position.hash === null
  const create = isNew ? { agent: session?.agent ?? null, project } : undefined
  const request = { log, leaseMs: REMOTE_LEASE_MS, sinceMs, create }
  const { lease: taken, head } = await takeLog(context, remote, request)
  let lease = taken
  try {
    const { fork } = await catchUp(context, remote, log, { taken: { lease, head } })
    if (fork !== undefined) throw continuedElsewhere(log, fork)
    const { removal } = await shipLog(context, remote, lease, {
      leaseMs: REMOTE_LEASE_MS,
      sinceMs,
      onLease: (it) => {
        lease = it
      },
    })
    if (removal !== undefined) await compactIfReachable(remote, { log, ...removal })
  } finally {
    await releaseIfReachable(remote, lease)
  }
}
