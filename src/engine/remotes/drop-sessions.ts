// Deletes sessions on a remote, for everyone who shares it. Leaves a tombstone, so that no machine sends them again by itself. Copies in
// stores stay.
import * as z from 'zod/mini'
import { parseSessionId, SavestateError } from '../../model/index.js'
import type { LogHead } from '../../remote/index.js'
import type { StoreContext } from '../operation/context.js'
import { storeOperation } from '../operation/operation.js'
import { isHeld } from '../sessions/open-session.js'
import { takeLog } from '../sharing/index.js'
import { type NamedRemote, withRemote } from './named-remote.js'
import { type RemoteSession, viewHead } from './remote-sessions.js'
import { type RemoteView, viewRemote } from './remotes-file.js'
import { requireHead } from './require-head.js'
import { leaseOf } from './transfer/push-log.js'

export type DroppedFromRemote = {
  readonly remote: RemoteView
  readonly sessions: readonly RemoteSession[]
  readonly applied: boolean
  /** The size of the files that were removed because no other session needed them. */
  readonly packBytes: number
}

export const dropFromRemote = storeOperation({
  name: 'dropFromRemote',
  summary: 'Delete sessions on a remote',
  effect: 'changes-store',
  input: () =>
    z.strictObject({
      sessions: z.array(z.string()).check(z.minLength(1)),
      remote: z.optional(z.string()),
      take: z._default(z.boolean(), false),
      dryRun: z._default(z.boolean(), false),
    }),
  run: async (context, { sessions, remote: name, take, dryRun }): Promise<DroppedFromRemote> =>
    withRemote(context, name, async (named) => {
      const heads: LogHead[] = []
      for (const id of new Set(sessions.map(parseSessionId))) {
        const head = await requireHead(named, id)
        if (!take) refuseInUse(context, head)
        heads.push(head)
      }
      const result = {
        remote: viewRemote(named.entry),
        sessions: heads.map((head) => viewHead(context, head)),
      }
      if (dryRun) return { ...result, applied: false, packBytes: 0 }
      for (const head of heads) await deleteThere(context, named, { head, take })
      const { bytes: packBytes } = await named.remote.collectPacks()
      return { ...result, applied: true, packBytes }
    }),
})

/** A session that this store has, and that no process here writes, is not in use. */
function refuseInUse({ ledger, clock }: StoreContext, { log, holder, fence }: LogHead): void {
  if (holder === null) return
  const lease = ledger.sessions.byId(log.id)?.lease ?? null
  if (ledger.sharing.get(log)?.fence === fence && !isHeld(lease, clock.nowMs())) return
  const { host, pid } = holder.owner
  throw new SavestateError(
    'SESSION_BUSY',
    `Process ${pid} on ${host} may still continue the session ${JSON.stringify(log.id)}`,
    { hint: 'To delete it anyway, add --take; in the SDK, set `take`.' },
  )
}

async function deleteThere(
  context: StoreContext,
  { remote }: NamedRemote,
  { head: { log }, take }: { readonly head: LogHead; readonly take: boolean },
): Promise<void> {
  const request = { log, leaseMs: leaseOf(remote), force: take, ofStore: true }
  const { lease } = await takeLog(context, remote, request)
  if (await remote.deleteLog(log, lease.fence)) return
  throw new SavestateError(
    'SESSION_FENCED',
    `Another process has taken over the session ${JSON.stringify(log.id)}`,
    { hint: 'Try again, with --take if it is in use.' },
  )
}
