// Undoes the last rewind, or redoes it. Changes only the paths that the rewind changed: later work on other files stays.
import * as z from 'zod/mini'
import {
  type BytePath,
  type Checkpoint,
  type CheckpointId,
  hasFiles,
  invariant,
  type Operation,
  parentOf,
  ROOT,
  SavestateError,
  type Session,
  undoStack,
} from '../../model/index.js'
import { findKnownProject, type ProjectContext } from '../operation/context.js'
import type { Callbacks, RestoreSubject } from '../operation/callbacks.js'
import { projectOperation } from '../operation/operation.js'
import { type RestoreResult, restore } from './restore.js'
import { viewTarget } from './rewind-target.js'
import { refuseHeldElsewhere, type RestoreSession } from './restore-session.js'
import { retryUntilConfirmed } from '../operation/confirm-unlocked.js'

export const undo = undoOrRedo('undo', 'Undo the last rewind')
export const redo = undoOrRedo('redo', 'Redo the last undone rewind')

function undoOrRedo(kind: 'undo' | 'redo', summary: string) {
  return projectOperation({
    name: kind,
    summary,
    effect: 'changes-files',
    input: () => z.strictObject({ dryRun: z._default(z.boolean(), false) }),
    run: (context, { dryRun }, callbacks) => runUndoOrRedo(context, { kind, dryRun, callbacks }),
  })
}

async function runUndoOrRedo(
  context: ProjectContext,
  {
    kind,
    dryRun,
    callbacks,
  }: {
    readonly kind: 'undo' | 'redo'
    readonly dryRun: boolean
    readonly callbacks: Callbacks
  },
): Promise<RestoreResult> {
  const project = findKnownProject(context)
  if (project === undefined) throw nothingToError(kind)
  return retryUntilConfirmed(context, project, {
    purpose: kind,
    callbacks,
    attempt: async (agreed) => {
      const rewind = undoStack(context.ledger.operations(project.id))[kind]
      if (rewind === undefined)
        throw nothingToError(kind, context.ledger.pruning.hasLostUndo(project.id))
      const goal = kind === 'undo' ? rewind.safety : rewind.result
      const target = context.ledger.checkpoints.get(goal)
      invariant(target !== undefined && hasFiles(target), 'an operation keeps its checkpoints')
      const session = undoSession(context, rewind, kind)
      const bystanders = context.ledger.checkpoints.details(rewind.result)?.rewind?.bystanders
      const result = await restore(context, project, {
        request: {
          kind,
          of: rewind.id,
          target: goal,
          goal: target.snapshot.tree,
          ownersThen: context.ledger.checkpoints.details(goal)?.owners,
          paths: undefined,
          only: await pathsChangedBy(context, rewind, bystanders),
          reason: `${kind} of ${context.ledger.checkpoints.get(rewind.result)?.reason ?? 'a rewind'}`,
          dryRun,
          subject: describeSubject(context, rewind),
          session: session?.part,
          movesState: session?.movesState === true,
          notice: session === undefined ? undefined : describeLeft(session),
        },
        callbacks,
        agreed,
      })
      if ('isQuestion' in result) return result
      if (session?.movesState !== true || !(result.applied || dryRun)) return result
      const { part, left } = session
      return { ...result, session: part.id, ...(left === undefined ? {} : { left }) }
    },
  })
}

function describeSubject({ ledger }: ProjectContext, { result, atMs }: Operation): RestoreSubject {
  const note = ledger.checkpoints.details(result)?.rewind
  const target = note === undefined ? undefined : ledger.checkpoints.get(note.target)
  return {
    to: target === undefined ? null : viewTarget(ledger, target),
    rewoundAt: new Date(atMs),
    ...(note?.undone === undefined ? {} : { undone: note.undone }),
    ...(note?.conversation === undefined ? {} : { conversation: note.conversation }),
  }
}

/** Nothing is lost, but the session has another state afterwards. */
function describeLeft({ part, left }: UndoSession): string | undefined {
  if (left === undefined) return undefined
  return `The session ${JSON.stringify(part.id)} has continued since. Its state changes too; what it has saved is kept, most recently in checkpoint ${left}.`
}

async function pathsChangedBy(
  { ledger, snapshots }: ProjectContext,
  { safety, result, project }: Operation,
  bystanders: readonly BytePath[] = [],
): Promise<BytePath[]> {
  const [before, after] = [ledger.checkpoints.get(safety), ledger.checkpoints.get(result)]
  invariant(
    before?.project === project && hasFiles(before) && after !== undefined && hasFiles(after),
    'an operation keeps its checkpoints',
  )
  const changes = await snapshots.compare(before.snapshot.tree, after.snapshot.tree, {
    countLines: false,
  })
  const left = new Set(bystanders)
  return changes.map(({ path }) => path).filter((path) => !isInAny(path, left))
}

function isInAny(path: BytePath, folders: ReadonlySet<BytePath>): boolean {
  for (let at = path; at !== ROOT; at = parentOf(at)) if (folders.has(at)) return true
  return false
}

type UndoSession = {
  readonly part: RestoreSession
  /** Whether the state of the session changes. It may change even if no file differs. */
  readonly movesState: boolean
  /** The head of a session that has continued since the rewind, if its state changes. */
  readonly left: CheckpointId | undefined
}

/**
 * The session's part: if the rewind restored the state of a session, undo and redo restore it too; otherwise they leave the
 * state alone.
 */
function undoSession(
  context: ProjectContext,
  rewind: Operation,
  kind: 'undo' | 'redo',
): UndoSession | undefined {
  const { ledger } = context
  const result = ledger.checkpoints.get(rewind.result)
  const facts = result?.session ?? undefined
  const session = facts === undefined ? undefined : ledger.sessions.byKey(facts.key)
  if (result === undefined || facts === undefined || session === undefined) return undefined
  refuseHeldElsewhere(context, session)
  const { key, id, head } = session
  const before = ledger.checkpoints.byStep(key, facts.step - 1)
  if (before === undefined) throw missingStateError(session, rewind)
  const hasMovedState =
    before.id !== facts.parent || ledger.tools.hasRevertedCallsAt(key, { step: facts.step })
  if (!hasMovedState) {
    const state = stateOf(head === null ? undefined : ledger.checkpoints.get(head))
    const part = { key, id, head, parent: head, state, revertFrom: null }
    return { part, movesState: false, left: undefined }
  }
  const left = head === lastResult(context, rewind) ? undefined : (head ?? undefined)
  const goal = kind === 'redo' ? result : before
  const reverted =
    kind === 'redo' ? { revertFrom: facts.step + 1 } : { revertFrom: facts.step, isTakenBack: true }
  const part = { key, id, head, parent: goal.id, state: stateOf(goal), ...reverted }
  return { part, movesState: true, left }
}

function stateOf(checkpoint: Checkpoint | undefined): RestoreSession['state'] {
  return checkpoint?.session?.state ?? null
}

/** The result of the rewind, or of the last undo or redo of it. */
function lastResult(
  { ledger }: ProjectContext,
  { id, project }: Operation,
): CheckpointId | undefined {
  return ledger.operations(project).findLast((it) => it.id === id || it.of === id)?.result
}

/** An older version may have dropped the state. Continuing without it would leave the session empty. */
function missingStateError({ id }: Session, { safety }: Operation): SavestateError {
  return new SavestateError(
    'CHECKPOINT_PARTIAL',
    `The state of the session ${JSON.stringify(id)} before the rewind is no longer stored`,
    { hint: `You can still restore the files: \`savestate rewind --files ${safety}\`.` },
  )
}

function nothingToError(kind: 'undo' | 'redo', isForgotten = false): SavestateError {
  return kind === 'undo'
    ? new SavestateError('NOTHING_TO_UNDO', 'There is no rewind to undo', {
        hint: isForgotten
          ? 'An earlier rewind can no longer be undone: a prune or `savestate drop` removed the checkpoints for it.'
          : '`savestate rewind <ref>` goes back to a checkpoint; undo reverts that.',
      })
    : new SavestateError('NOTHING_TO_REDO', 'There is no undone rewind to redo')
}
