// The rows of a rewind, undo or redo: the safety checkpoint before it, the operation with its result after it (I2, I3).
import {
  type FilesCheckpoint,
  type OperationId,
  type Project,
  REWIND,
  type RewindNote,
} from '../model/index.js'
import type { Captured } from '../snapshot/index.js'
import { failpoint } from '../system/index.js'
import type { StoreContext } from './context.js'
import { Journals } from './journal.js'
import { lookAt } from './look.js'
import { prepareCheckpoint, recordCheckpoint } from './record.js'
import type { RestoreRequest } from './restore.js'
import { nextStepOf } from './restore-session.js'

/** The row, then the journal's end. */
export async function commitRestore(
  context: StoreContext,
  project: Project,
  done: {
    readonly after: Captured
    readonly safety: FilesCheckpoint
    readonly operation: OperationId
    readonly request: Pick<RestoreRequest, 'kind' | 'of' | 'reason' | 'session' | 'rewind'>
    /** The fencing number of the session's writer; undefined if it is dead. */
    readonly fence?: number | undefined
  },
): Promise<FilesCheckpoint> {
  const { after, safety, operation, request } = done
  const facts = {
    kind: request.kind,
    name: null,
    reason: request.reason,
    previous: safety.snapshot.tree,
    authors: [REWIND],
  }
  const checkpoint = await prepareCheckpoint(context, project, { captured: after, facts })
  failpoint('restore:before-row')
  context.ledger.addOperation(
    {
      id: operation,
      project: project.id,
      kind: request.kind,
      atMs: checkpoint.createdAtMs,
      safety: safety.id,
      result: checkpoint.id,
      of: request.of,
    },
    { checkpoint, details: { ...after.snapshot, rewind: request.rewind } },
    (made) => {
      const step = nextStepOf(context, request.session, done.fence)
      step?.take(made)
      return { ...made, session: step?.facts ?? null }
    },
  )
  failpoint('restore:after-row')
  new Journals(context.home).remove(project.id)
  failpoint('restore:done')
  return checkpoint
}

/** The folder as it is before the rewind: the newest checkpoint if that has it, else a new one. */
export async function safetyCheckpoint(
  context: StoreContext,
  project: Project,
  now: {
    readonly captured: Captured
    readonly newest: FilesCheckpoint | undefined
    readonly reason: string
    readonly rewind: RewindNote | undefined
  },
): Promise<FilesCheckpoint> {
  const { captured, newest, reason, rewind } = now
  if (newest?.snapshot.tree === captured.snapshot.tree) return newest
  const look = lookAt(context, project, { type: 'look' })
  const previous = newest?.snapshot.tree
  const facts = { kind: 'safety' as const, name: null, reason, previous, authors: look.authors }
  return recordCheckpoint(context, project, { captured, facts, rewind, also: look.made })
}
