// Remembers what came from other machines, for `status` and for the next agent: the daemon's push prints nothing, and a push or pull that
// fails later reports only its error.
import type { LogName } from '../../../model/index.js'
import type { StoreContext } from '../../operation/context.js'
import { noteContinuedElsewhere } from '../../sessions/continued-elsewhere.js'
import { catchUp, type CaughtUp, type CatchUpOptions } from '../../sharing/index.js'
import type { NamedRemote } from '../named-remote.js'
import { recordFork } from './push-record.js'

/** As `catchUp`. */
export async function catchUpAndNote(
  context: StoreContext,
  { remote, entry }: NamedRemote,
  log: LogName,
  options: CatchUpOptions,
): Promise<CaughtUp> {
  const head = () => context.ledger.sessions.byId(log.id)?.head
  const before = head()
  const caught = await catchUp(context, remote, log, options)
  const { segments, fork = null } = caught
  if (log.kind !== 'session') return caught
  // Segments may also be a collection's, or of a push here that was killed before its answer.
  const isContinued = segments > 0 && head() !== before
  if (fork !== null || isContinued) noteContinuedElsewhere(context, { id: log.id, fork })
  if (fork !== null) recordFork(context, entry.name, { session: log.id, fork })
  return caught
}
