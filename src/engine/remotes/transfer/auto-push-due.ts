// Whether a push by itself is due: some remote asks for it and lacks something. The daemon asks often, so this loads no remote.
import type { LogName, ProjectId } from '../../../model/index.js'
import type { StoreContext } from '../../operation/context.js'
import { logsWith } from './local-logs.js'
import { readPushRecord } from './push-record.js'
import { readRemotes, type RemoteEntry } from '../remotes-file.js'

/** During a turn; its end pushes at once. */
const PAUSE_MS = 60_000
const FIRST_RETRY_MS = 10_000
const LAST_RETRY_MS = 30 * 60_000

/** Whether a push is due. `isSoon`: a turn has ended. Contacts nothing, and costs a read of one file if no remote asks for it. */
export function isPushDue(
  context: StoreContext,
  { isSoon }: { readonly isSoon: boolean },
): boolean {
  return autoRemotes(context).some((entry) => isDue(context, entry, isSoon))
}

/** Whether a remote that asks for it lacks something, also between two attempts. Contacts nothing. */
export function isPushLeft(context: StoreContext): boolean {
  return autoRemotes(context).some((entry) => logsToPush(context, entry).length > 0)
}

/** The remotes to push to without being asked. */
export function autoRemotes({ home }: StoreContext): readonly RemoteEntry[] {
  return readRemotes(home).filter((entry) => entry.autoPush)
}

function isDue(context: StoreContext, entry: RemoteEntry, isSoon: boolean): boolean {
  if (logsToPush(context, entry).length === 0) return false
  const { pushedAtMs, failure } = readPushRecord(context, entry.name)
  const nowMs = context.clock.nowMs()
  const hasPassed = (sinceMs: number, pauseMs: number) =>
    // After the clock was set back, the recorded time may be in the future.
    nowMs - sinceMs >= pauseMs || sinceMs > nowMs
  if (failure !== null)
    return hasPassed(
      failure.atMs,
      Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** (failure.attempts - 1)),
    )
  return isSoon || pushedAtMs === null || hasPassed(pushedAtMs, PAUSE_MS)
}

/** Everything that the remote lacks of its sessions, and of the projects from which the user has pushed. */
export function logsToPush(context: StoreContext, { id }: RemoteEntry): readonly LogName[] {
  const { sharing } = context.ledger
  const logs = logsWith(context, id)
  if (logs.length === 0) return []
  // A session that was only pulled has no fence: it makes nothing else of its project public.
  const pushed = logs.filter(({ log, fence }) => log.kind === 'session' && fence !== null)
  const known = new Set(pushed.map(({ log }) => log.id))
  const sessions = context.ledger.sessions.list({})
  const projects = new Set<ProjectId>(
    [
      ...sessions.map((it) => (known.has(it.id) ? it.project : null)),
      ...logs.map(({ log }) => (log.kind === 'project' ? sharing.projectOf(log) : null)),
    ].filter((project) => project !== null),
  )
  const fresh = sessions.filter(
    (it) =>
      it.project !== null &&
      projects.has(it.project) &&
      it.head !== null &&
      sharing.get({ kind: 'session', id: it.id }) === undefined,
  )
  return [
    ...logs.filter(({ isDirty }) => isDirty).map(({ log }) => log),
    ...fresh.map(({ id: session }): LogName => ({ kind: 'session', id: session })),
    ...[...projects]
      .flatMap((project) => sharing.projectLogs(project))
      .filter((log) => sharing.get(log) === undefined),
  ]
}
