// Rewinds a session: its files, its state, or both. Both together are one operation and one row (I2).
import * as z from 'zod/mini'
import {
  type Checkpoint,
  invariant,
  makeId,
  parseCheckpointId,
  SavestateError,
  type StateCheckpoint,
} from '../../model/index.js'
import { failpoint } from '../../system/index.js'
import { refuseDamagedFiles, refuseDamagedState } from '../verify/damage-marks.js'
import { describeTarget } from '../checkpoints/describe-target.js'
import type { Callbacks } from '../operation/callbacks.js'
import { sessionOperation } from '../operation/operation.js'
import { withFiles } from '../checkpoints/resolve-ref.js'
import { type RestoreResult, restore } from './restore.js'
import { planNextStep, type RestoreSession } from './restore-session.js'
import { makeRewindRequest, parseProjectPath } from './rewind.js'
import { checkpointBeforeInSession, viewTarget } from './rewind-target.js'
import { projectOf, type SessionContext, readSession } from '../sessions/session-context.js'
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
    const { restore: restored } = input
    if (restored !== 'files') {
      expectState(target)
      refuseDamagedState(context.ledger, target)
    }
    if (restored === 'state')
      return { ...rewindState(context, target, { dryRun: input.dryRun }), restored }
    const paths = (input.paths ?? []).map(parseProjectPath)
    const result = await restoreFiles(context, target, { ...input, paths, restored, callbacks })
    return { ...result, restored }
  },
})

async function restoreFiles(
  context: SessionContext,
  target: Checkpoint,
  request: {
    readonly paths: readonly ReturnType<typeof parseProjectPath>[]
    readonly restored: 'files' | 'both'
    readonly keepMine: boolean
    readonly dryRun: boolean
    readonly callbacks: Callbacks
  },
): Promise<RestoreResult> {
  const project = projectOf(context)
  const { restored, callbacks, keepMine, dryRun } = request
  const then = withFiles(target)
  refuseDamagedFiles(context.ledger, then, request.paths)
  const paths = request.paths.length === 0 ? undefined : request.paths
  return retryUntilConfirmed(context, project, {
    purpose: 'rewind',
    callbacks,
    attempt: (agreed) =>
      restore(context, project, {
        request: {
          ...makeRewindRequest(context.ledger, then, { paths, keepMine, dryRun }),
          session: sessionPart(context, target, restored),
          movesState: restored === 'both',
          fence: context.lease.fence,
        },
        callbacks,
        agreed,
      }),
  })
}

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
  const { ledger, clock, lease } = context
  const nothing = {
    to: viewTarget(ledger, target),
    target: target.id,
    plan: { write: [], remove: [], keep: [], conflict: [] },
    declined: false,
    safety: null,
  }
  if (dryRun) return { ...nothing, applied: false, checkpoint: null }
  const createdAtMs = clock.nowMs()
  const id = parseCheckpointId(makeId(clock.random))
  failpoint('rewind-state:before-row')
  ledger.transaction(() => {
    ledger.sessions.check(lease)
    const step = planNextStep(context, sessionPart(context, target, 'state'), lease.fence)
    invariant(step !== undefined, 'the head does not move within a transaction')
    const checkpoint: StateCheckpoint = {
      id,
      kind: 'rewind',
      name: null,
      reason: `rewind of the state to ${describeTarget(target)}`,
      createdAtMs,
      pinned: false,
      authors: null,
      project: context.project?.id ?? null,
      commit: null,
      snapshot: null,
      changes: null,
      session: step.facts,
    }
    ledger.checkpoints.insert(checkpoint, undefined)
    step.advance(checkpoint)
  })
  failpoint('rewind-state:after-row')
  return { ...nothing, applied: true, checkpoint: id }
}

function expectState({ id, session }: Checkpoint): void {
  if (session !== null && session.state !== null) return
  throw new SavestateError('CHECKPOINT_PARTIAL', `Checkpoint ${id} has no state`, {
    hint: 'It was saved with files only. Restore those: `savestate rewind --files`.',
  })
}
