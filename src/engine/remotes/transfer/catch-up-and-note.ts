// Remembers what came from other machines, for `status` and for the next agent: the daemon's push prints nothing, and a push or pull that
// fails later reports only its error.
import type { LogName } from '../../../model/index.js'
import type { StoreContext } from '../../operation/context.js'
import { noteContinuedElsewhere } from '../../sessions/continued-elsewhere.js'
import type { CaughtUp } from '../../sharing/index.js'
import type { NamedRemote } from '../named-remote.js'
import { recordFork } from './push-record.js'

export function noteCaughtUp(
  context: StoreContext,
  { entry }: NamedRemote,
  { log, caught }: { readonly log: LogName; readonly caught: CaughtUp },
): void {
  const { segments, fork = null } = caught
  if (log.kind !== 'session' || (segments === 0 && fork === null)) return
  noteContinuedElsewhere(context, { id: log.id, fork })
  if (fork !== null) recordFork(context, entry.name, { session: log.id, fork })
}
