// The session's part of a rewind. State and files share one row: both are restored or neither (I2).
import {
  type Checkpoint,
  type CheckpointId,
  SavestateError,
  type Session,
  type SessionPosition,
  type SessionKey,
  type StateId,
} from '../../model/index.js'
import type { StoreContext } from '../operation/context.js'
import { isLeasedElsewhere } from '../sessions/open-session.js'
import type { RestoreRequest } from './restore.js'

/** Also written to the journal, so that recovery restores the session too. */
export type RestoreSession = {
  readonly key: SessionKey
  readonly id: string
  /** The head when the rewind started. If the head is another one later, the session has continued. */
  readonly head: CheckpointId | null
  /** The parent and the state of the new checkpoint. */
  readonly parent: CheckpointId | null
  readonly state: StateId | null
  /** Tool calls from this step on may run again; earlier ones count as done. Null: the state stays. */
  readonly revertFrom: number | null
  /** True if that step is a rewind that is undone. */
  readonly isTakenBack?: boolean
}

/**
 * Makes the checkpoint the head of the session and returns its position there. Call it inside the transaction that adds the
 * checkpoint. `fence` belongs to the session's writer; without it, no process may have the session open.
 *
 * Returns null without a session, and if the state stays but the session has continued or is open elsewhere. If the state
 * is restored, that is an error instead: HEAD_MOVED if the session has continued, SESSION_BUSY if another process has
 * opened it, SESSION_DELETED if its writer finds it deleted.
 */
export function advanceSession(
  context: StoreContext,
  checkpoint: Pick<Checkpoint, 'id' | 'createdAtMs'>,
  { session: part, fence }: Pick<RestoreRequest, 'session' | 'fence'>,
): SessionPosition | null {
  if (part === undefined) return null
  const { ledger, clock } = context
  const { parent, state, revertFrom: beforeStep, isTakenBack = false } = part
  if (beforeStep !== null && fence !== undefined)
    ledger.sessions.check({ key: part.key, id: part.id, fence })
  refuseChangedSession(context, part, fence)
  const session = ledger.sessions.byKey(part.key)
  if (session === undefined || session.head !== part.head) return null
  if (fence === undefined && isLeasedElsewhere(session.lease, clock.nowMs())) return null
  const { key, id, agent, status, turn, nextStep: step } = session
  const { id: head, createdAtMs: atMs } = checkpoint
  const hold = { key, id, fence: fence ?? session.fence }
  ledger.sessions.advance(hold, { head, status, atMs, leaseUntilMs: null })
  if (beforeStep !== null) ledger.tools.goTo(key, { step, beforeStep, isTakenBack })
  const nothing = { toolCall: null, schemaVersion: null, metadata: undefined, operationId: null }
  return { key, id, agent, parent, step, status, turn, state, ...nothing }
}

/** Throws unless the session can be restored together with the files: both are restored or neither. */
export function refuseChangedSession(
  context: StoreContext,
  { key, id, head, revertFrom }: RestoreSession,
  fence: number | undefined,
): void {
  if (revertFrom === null) return
  const session = context.ledger.sessions.byKey(key)
  if (session === undefined) return
  if (fence === undefined) refuseHeldElsewhere(context, session)
  if (session.head === head) return
  throw new SavestateError(
    'HEAD_MOVED',
    `The session ${JSON.stringify(id)} has continued in the meantime: its head is ${session.head}`,
    { hint: 'Neither its state nor its files were rewound. Check what was saved, then try again.' },
  )
}

/** The process that has the session open would work with a state that is no longer current. */
export function refuseHeldElsewhere({ clock }: StoreContext, { id, lease }: Session): void {
  if (!isLeasedElsewhere(lease, clock.nowMs())) return
  throw new SavestateError('SESSION_BUSY', `The session ${JSON.stringify(id)} is in use`, {
    hint: `The rewind includes it, so its process (${lease?.owner.pid}) must end first.`,
  })
}

/** Whether the session refused a restore because it changed meanwhile. In that case no row was added. */
export function isRefusedBySession(error: unknown): boolean {
  const codes = ['HEAD_MOVED', 'SESSION_BUSY', 'SESSION_FENCED', 'SESSION_DELETED']
  return error instanceof SavestateError && codes.includes(error.code)
}
