// Rewinds a session: its files, its state, or both. Both together are one operation and one row (I2).
import * as z from 'zod/mini'
import {
  type Checkpoint,
  invariant,
  SavestateError,
  type StateCheckpoint,
} from '../../model/index.js'
import { failpoint } from '../../system/index.js'
import { refuseDamagedState } from '../verify/damage-marks.js'
import { describeTarget } from '../checkpoints/describe-target.js'
import { sessionOperation } from '../operation/operation.js'
import { withFilesHere } from '../checkpoints/files-here.js'
import { withFiles } from '../checkpoints/resolve-ref.js'
import { type RestoreResult, restore } from './restore.js'
import { advanceSession, type RestoreSession } from './restore-session.js'
import { makeRewindRequest } from './rewind.js'
import { parseProjectPaths } from '../operation/project-path.js'
import { checkpointBeforeInSession, viewTarget } from './rewind-target.js'
import { projectOf, type SessionContext, readSession } from '../sessions/session-context.js'
import { createDraft } from '../sessions/session-draft.js'
import { resolveInSession } from '../sessions/session-queries.js'
import { retryUntilConfirmed } from '../operation/confirm-unlocked.js'

export type SessionRewindResult = RestoreResult & {
  readonly restored: 'files' | 'state' | 'both'
}

export const rewindSession = sessionOperation({
  name: 'rewind',
  summary: 'Bring a session back to a checkpoint: its files, its state, or both',
  effect: 'changes-files',
  input: () =>
    z.strictObject({
      to: z.string(),
      /** Restore the parent of the checkpoint. */
      before: z._default(z.boolean(), false),
      restore: z._default(z.enum(['files', 'state', 'both']), 'both'),
      paths: z.optional(z.array(z.string())),
      keepMine: z._default(z.boolean(), false),
      dryRun: z._default(z.boolean(), false),
    }),
  async run(context, input, callbacks): Promise<SessionRewindResult> {
    const named = resolveInSession(context, context.lease.key, input.to)
    const target = input.before ? checkpointBeforeInSession(context.ledger, named) : named
    const { restore: restored, keepMine, dryRun } = input
    if (restored !== 'files') {
      expectState(target)
      refuseDamagedState(context.ledger, target)
    }
    if (restored === 'state') return { ...rewindState(context, target, { dryRun }), restored }
    const project = projectOf(context)
    const then = withFiles(await withFilesHere(context, target))
    const given = { paths: parseProjectPaths(input.paths), keepMine, dryRun }
    const attempt = (agreed: string | undefined) =>
      restore(context, project, {
        request: {
          ...makeRewindRequest(context, project, { target: then, callbacks, ...given }),
          session: sessionPart(context, target, restored),
          movesState: restored === 'both',
          fence: context.lease.fence,
        },
        callbacks,
        agreed,
      })
    const how = { purpose: 'rewind', callbacks, attempt }
    return { ...(await retryUntilConfirmed(context, project, how)), restored }
  },
})

function sessionPart(
  context: SessionContext,
  target: Checkpoint,
  restored: 'files' | 'state' | 'both',
): RestoreSession {
  const { key, id, head } = readSession(context)
  const present = head === null ? undefined : context.ledger.checkpoints.get(head)
  if (restored === 'files') {
    const state = present?.session?.state ?? null
    return { key, id, head, parent: head, state, revertFrom: null }
  }
  const { state = null, step = 0 } = target.session ?? {}
  return { key, id, head, parent: target.id, state, revertFrom: step + 1 }
}

/** Without files there is nothing to capture, plan or journal: one row restores the state. */
function rewindState(
  context: SessionContext,
  target: Checkpoint,
  { dryRun }: { readonly dryRun: boolean },
): RestoreResult {
  const { ledger, lease } = context
  const nothing = {
    to: viewTarget(ledger, target),
    target: target.id,
    plan: { write: [], remove: [], keep: [], conflict: [] },
    declined: false,
    safety: null,
  }
  if (dryRun) return { ...nothing, applied: false, checkpoint: null }
  const reason = `rewind of the state to ${describeTarget(target)}`
  const draft = createDraft(context, { kind: 'rewind', name: null, reason })
  failpoint('rewind-state:before-row')
  ledger.transaction(() => {
    ledger.sessions.check(lease)
    const part = sessionPart(context, target, 'state')
    const session = advanceSession(context, draft, { session: part, fence: lease.fence })
    invariant(session !== null, 'the head does not move within a transaction')
    ledger.checkpoints.insert({ ...draft, session } as StateCheckpoint, undefined)
  })
  failpoint('rewind-state:after-row')
  return { ...nothing, applied: true, checkpoint: draft.id }
}

function expectState({ id, session }: Checkpoint): void {
  if (session !== null && session.state !== null) return
  throw new SavestateError('CHECKPOINT_PARTIAL', `Checkpoint ${id} has no state`, {
    hint: 'It was saved with files only. Restore those: `savestate rewind --files`.',
  })
}
