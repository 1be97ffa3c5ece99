// The session's part of an undo or redo. If the rewind restored the state of a session, undo and redo restore it too;
// otherwise they leave the state alone.
import {
  type Checkpoint,
  type CheckpointId,
  type Operation,
  SavestateError,
  type Session,
  type SessionPosition,
} from '../../model/index.js'
import type { ProjectContext } from '../operation/context.js'
import { refuseHeldElsewhere, type RestoreSession } from './restore-session.js'

export type UndoSession = {
  readonly part: RestoreSession
  /** Whether the state of the session changes. It may change even if no file differs. */
  readonly movesState: boolean
  /** The head of a session that has continued since the rewind, if its state changes. */
  readonly left: CheckpointId | undefined
}

export function undoSession(
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
  const part = { key, id, head, parent: goal.id, state: stateOf(goal) }
  return { part: { ...part, ...revertCalls(kind, facts) }, movesState: true, left }
}

function revertCalls(
  kind: 'undo' | 'redo',
  { step }: SessionPosition,
): Pick<RestoreSession, 'revertFrom' | 'isTakenBack'> {
  return kind === 'redo' ? { revertFrom: step + 1 } : { revertFrom: step, isTakenBack: true }
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
