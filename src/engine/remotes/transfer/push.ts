// Sends sessions, threads and the other checkpoints of projects to a named remote (mode behind, docs/internals/shared.md).
import * as z from 'zod/mini'
import { type ErrorText, type LogKind, type LogName, parsePathText } from '../../../model/index.js'
import type { StoreContext } from '../../operation/context.js'
import { storeOperation } from '../../operation/operation.js'
import { localLogs, localSession } from './local-logs.js'
import { withRemote } from '../named-remote.js'
import { reportErrorsOfOne } from './one-log.js'
import { pushLog, type SentLog } from './push-log.js'
import { recordPush } from './push-record.js'
import { type RemoteView, viewRemote } from '../remotes-file.js'

export type PushedLog = SentLog & {
  /** `project`: the checkpoints of a project that belong to no session. */
  readonly kind: LogKind
  readonly id: string
  /** It was deleted there, so it was not sent: only a push that names it does. */
  readonly isDeleted: boolean
  /** Why it was not sent; null if it was. */
  readonly error: ErrorText | null
}

export type PushResult = { readonly remote: RemoteView; readonly pushed: readonly PushedLog[] }

export const push = storeOperation({
  name: 'push',
  summary: 'Send sessions and checkpoints to a remote',
  effect: 'adds',
  input: () =>
    z.strictObject({
      remote: z.optional(z.string()),
      sessions: z.optional(z.array(z.string())),
      /** The path of a project. */
      project: z.optional(z.string()),
    }),
  async run(context, { remote, ...selection }, { signal }): Promise<PushResult> {
    const logs = selectLogs(context, selection)
    const isNamed = selection.sessions !== undefined
    return withRemote(context, remote, async (named) => {
      const pushed: PushedLog[] = []
      for (const log of logs) {
        signal?.throwIfAborted()
        const push = () => pushLog(context, named, { log, isNamed })
        const { value = NOTHING, error } = await reportErrorsOfOne(push)
        const isDeleted = error?.code === 'SESSION_DELETED'
        pushed.push({
          ...log,
          ...value,
          isDeleted,
          error: error === undefined || isDeleted ? null : error.toJSON(),
        })
      }
      if (pushed.length > 0 && pushed.every(({ error }) => error === null))
        recordPush(context, named.entry.name)
      return { remote: viewRemote(named.entry), pushed }
    })
  },
})

const NOTHING: SentLog = { segments: 0, bytes: 0, checkpoints: 0, fork: null }

/** Everything, unless sessions or a project are named. */
function selectLogs(
  context: StoreContext,
  {
    sessions,
    project: path,
  }: { readonly sessions?: string[] | undefined; readonly project?: string | undefined },
): readonly LogName[] {
  if (sessions !== undefined) return sessions.map((id) => localSession(context, id))
  if (path === undefined) return localLogs(context)
  const project = context.ledger.projectAt(parsePathText(path))
  return project === undefined ? [] : localLogs(context, project.id)
}
