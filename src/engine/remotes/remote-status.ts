// How far behind each remote is, from the tables of this store. Contacts nothing.
import type { SharedLog } from '../../ledger/index.js'
import type { StoreContext } from '../operation/context.js'
import { logsWith } from './transfer/local-logs.js'
import { readPushRecord } from './transfer/push-record.js'
import { readRemotes, type RemoteView, viewRemote } from './remotes-file.js'

export type RemoteStatus = RemoteView & {
  /** Sessions and graph threads that this store shares with it. */
  readonly shared: number
  /** Those of them with steps that it lacks. */
  readonly behind: number
  readonly lastPush: Date | null
  /** Projects whose checkpoints without a session this store shares with it, and how many of them have some that it lacks. */
  readonly projects: { readonly shared: number; readonly behind: number }
  /** Why the last push failed; null if it did not. `since`: the first failure in a row. */
  readonly failure: { readonly code: string; readonly message: string; readonly since: Date } | null
}

export function remoteStatuses(context: StoreContext): readonly RemoteStatus[] {
  return readRemotes(context.home).map((entry) => {
    const all = logsWith(context, entry.id)
    const logs = all.filter(({ log }) => log.kind !== 'project')
    const projects = all.filter(({ log }) => log.kind === 'project')
    const { pushedAtMs, failure } = readPushRecord(context, entry.name)
    return {
      ...viewRemote(entry),
      shared: logs.length,
      behind: countBehind(logs),
      projects: { shared: projects.length, behind: countBehind(projects) },
      lastPush: pushedAtMs === null ? null : new Date(pushedAtMs),
      failure:
        failure === null
          ? null
          : { code: failure.code, message: failure.message, since: new Date(failure.sinceMs) },
    }
  })
}

function countBehind(logs: readonly SharedLog[]): number {
  return logs.filter(({ isDirty }) => isDirty).length
}
