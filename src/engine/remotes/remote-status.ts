// How far behind each remote is, from the tables of this store. Contacts nothing.
import type { LogName } from '../../model/index.js'
import type { StoreContext } from '../operation/context.js'
import { logsToPush } from './transfer/auto-push-due.js'
import { logsWith } from './transfer/local-logs.js'
import { readPushRecord } from './transfer/push-record.js'
import { readRemotes, type RemoteView, viewRemote } from './remotes-file.js'

export type RemoteStatus = RemoteView & {
  /** Sessions and graph threads that this store shares with it, and new sessions of the projects that it pushes from. */
  readonly shared: number
  /** Those of them with steps that it lacks. */
  readonly behind: number
  readonly lastPush: Date | null
  /** Projects whose checkpoints without a session this store shares with it, and how many of them have some that it lacks. */
  readonly projects: { readonly shared: number; readonly behind: number }
  /** Why the last push failed; null if it did not, or nothing is left to send. `since`: the first failure in a row. */
  readonly failure: { readonly code: string; readonly message: string; readonly since: Date } | null
  /** In the last 7 days, newest first, another machine had continued `session`, and the steps that only this one had became `fork`. */
  readonly forks: readonly RemoteFork[]
}

export type RemoteFork = { readonly session: string; readonly fork: string; readonly at: Date }

export function remoteStatuses(context: StoreContext): readonly RemoteStatus[] {
  return readRemotes(context.home).map((entry) => {
    const unchanged = logsWith(context, entry.id).filter(({ isDirty }) => !isDirty)
    const due = logsToPush(context, entry)
    const isProject = ({ kind }: LogName) => kind === 'project'
    const sessions = due.filter((log) => !isProject(log)).length
    const projects = due.length - sessions
    const { pushedAtMs, failure, forks } = readPushRecord(context, entry.name)
    return {
      ...viewRemote(entry),
      shared: unchanged.filter(({ log }) => !isProject(log)).length + sessions,
      behind: sessions,
      projects: {
        shared: unchanged.filter(({ log }) => isProject(log)).length + projects,
        behind: projects,
      },
      lastPush: pushedAtMs === null ? null : new Date(pushedAtMs),
      failure:
        // The user may have pushed by hand since.
        failure === null || due.length === 0
          ? null
          : { code: failure.code, message: failure.message, since: new Date(failure.sinceMs) },
      forks: forks.flatMap(({ session, fork, atMs }) =>
        // The user has deleted it, so the user knows.
        context.ledger.sessions.byId(fork) === undefined
          ? []
          : [{ session, fork, at: new Date(atMs) }],
      ),
    }
  })
}
