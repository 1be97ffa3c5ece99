// The sessions of a remote, as its heads describe them. Reads no segment.
import * as z from 'zod/mini'
import { parseStatus, statusText, type StatusText } from '../../model/index.js'
import type { LogHead, Remote } from '../../remote/index.js'
import type { StoreContext } from '../operation/context.js'
import { storeOperation } from '../operation/operation.js'
import { withRemote } from './named-remote.js'

export type RemoteSession = {
  readonly id: string
  readonly agent: string | null
  /** The name of its folder on the machine that shared it. */
  readonly project: string | null
  readonly status: StatusText
  readonly steps: number
  /** The message of its newest checkpoint. */
  readonly reason: string | null
  readonly updatedAt: Date
  /** The process that may write it; null if any may. */
  readonly holder: RemoteHolder | null
  /** Whether this store has it too. */
  readonly isHere: boolean
}

export type RemoteHolder = {
  readonly host: string
  readonly pid: number
  readonly since: Date
  /** When its right ends; null if it ends only when it is given up. */
  readonly until: Date | null
}

export const remoteSessions = storeOperation({
  name: 'remoteSessions',
  summary: 'List the sessions of a remote',
  effect: 'reads',
  input: () =>
    z.strictObject({
      remote: z.optional(z.string()),
      limit: z.optional(z.int().check(z.positive())),
    }),
  async run(context, { remote: name, limit }, { onWarning }): Promise<readonly RemoteSession[]> {
    const list = async ({ remote }: { readonly remote: Remote }) => {
      const heads = await remote.heads({
        kind: 'session',
        ...(limit === undefined ? {} : { limit }),
        onDamaged: ({ log, damage }) =>
          onWarning?.(
            `The session ${JSON.stringify(log.id)} of the remote cannot be read. ${damage.message}.`,
          ),
      })
      return heads.map((head) => viewHead(context, head))
    }
    const { fleet } = context
    return name === undefined && fleet !== undefined ? list(fleet) : withRemote(context, name, list)
  },
})

export function viewHead(context: StoreContext, head: LogHead): RemoteSession {
  const { log, card, status, updatedAtMs, project } = head
  return {
    id: log.id,
    agent: card?.agent ?? null,
    project: project?.name ?? card?.project ?? null,
    status: statusText(parseStatus(status, card?.statusReason ?? null)),
    steps: card?.steps ?? 0,
    reason: card?.reason ?? null,
    updatedAt: new Date(updatedAtMs),
    holder: viewHolder(context, head),
    isHere: context.ledger.sessions.byId(log.id) !== undefined,
  }
}

/** Null if no process may write it but those that take it first. */
export function viewHolder(
  { clock }: Pick<StoreContext, 'clock'>,
  { holder, leaseEndsInMs }: Pick<LogHead, 'holder' | 'leaseEndsInMs'>,
): RemoteHolder | null {
  if (holder === null) return null
  return {
    host: holder.owner.host,
    pid: holder.owner.pid,
    since: new Date(holder.sinceMs),
    until: leaseEndsInMs === null ? null : new Date(clock.nowMs() + leaseEndsInMs),
  }
}
