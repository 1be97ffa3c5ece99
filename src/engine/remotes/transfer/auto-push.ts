// Pushes by itself to the remotes that ask for it, in a process of its own (src/sdk/maintenance/push-process.ts).
import type { StoreContext } from '../../operation/context.js'
import { autoRemotes, logsToPush } from './auto-push-due.js'
import { withRemote } from '../named-remote.js'
import { reportErrorsOfOne } from './one-log.js'
import { pushLog } from './push-log.js'
import { recordPush } from './push-record.js'
import type { RemoteEntry } from '../remotes-file.js'

/** Pushes to all remotes that ask for it, and records how it went. */
export async function autoPush(context: StoreContext): Promise<void> {
  for (const entry of autoRemotes(context)) {
    try {
      await pushAll(context, entry)
      recordPush(context, entry.name)
    } catch (error) {
      // No user waits for this: `status` reports it.
      recordPush(context, entry.name, error)
    }
  }
}

async function pushAll(context: StoreContext, entry: RemoteEntry): Promise<void> {
  const logs = logsToPush(context, entry)
  if (logs.length === 0) return
  await withRemote(context, entry.name, async (named) => {
    let first: Error | undefined
    for (const log of logs) {
      const { error } = await reportErrorsOfOne(() => pushLog(context, named, { log }))
      // The user deleted it there: only a push that names it sends it again.
      if (error?.code !== 'SESSION_DELETED') first ??= error
    }
    if (first !== undefined) throw first
  })
}
