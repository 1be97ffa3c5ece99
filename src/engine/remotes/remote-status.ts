// How far behind each remote is, from the tables of this store. Contacts nothing.
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
  /** Why the last push failed; null if it did not. `since`: the first failure in a row. */
  readonly failure: { readonly code: string; readonly message: string; readonly since: Date } | null
}

export function remoteStatuses(context: StoreContext): readonly RemoteStatus[] {
  return readRemotes(context.home).map((entry) => {
    const logs = logsWith(context, entry.id)
    const { pushedAtMs, failure } = readPushRecord(context, entry.name)
    return {
      ...viewRemote(entry),
      shared: logs.length,
      behind: logs.filter(({ isDirty }) => isDirty).length,
      lastPush: pushedAtMs === null ? null : new Date(pushedAtMs),
      failure:
        failure === null
          ? null
          : { code: failure.code, message: failure.message, since: new Date(failure.sinceMs) },
    }
  })
}
