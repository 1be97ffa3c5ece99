// The session's part of a rewind. It is one row with the files' part: both happen or neither (I2).
import {
  type Checkpoint,
  type CheckpointId,
  SavestateError,
  type Session,
  type SessionFacts,
  type SessionKey,
  type StateId,
} from '../../model/index.js'
import type { StoreContext } from '../operation/context.js'
import { isHeldElsewhere } from '../sessions/open-session.js'

/** Written to the journal too, so that whoever finishes the rewind finishes this. */
export type RestoreSession = {
  readonly key: SessionKey
  readonly id: string
  /** The head when the rewind began: if it is another one by now, the session has gone its own way. */
  readonly head: CheckpointId | null
  /** What the new checkpoint follows on, and the state it holds. */
  readonly parent: CheckpointId | null
  readonly state: StateId | null
  /** Tool calls from this step on may be made again, those before count as made. Null: the state stays. */
  readonly revertFrom: number | null
  /** True if that step is a rewind that is taken back. */
  readonly isTakenBack?: boolean
}

export type NextStep = {
  readonly facts: SessionFacts
  /** Inside the transaction that adds the checkpoint. */
  take(checkpoint: Checkpoint): void
}

/**
 * Inside a transaction. Undefined if no session is meant, or one whose state stays has moved on meanwhile or is another's. Throws HEAD_MOVED if the
 * state is to go back and has moved on, SESSION_BUSY if somebody has opened it, and SESSION_DELETED if its writer finds it deleted. `fence` is its
 * writer's; without one nobody else may be its writer.
 */
export function nextStepOf(
  context: StoreContext,
  part: RestoreSession | undefined,
  fence: number | undefined,
): NextStep | undefined {
  if (part === undefined) return undefined
  const { ledger, clock } = context
  if (part.revertFrom !== null && fence !== undefined)
    ledger.sessions.check({ key: part.key, id: part.id, fence })
  refuseOthers(context, part, fence)
  const session = ledger.sessions.byKey(part.key)
  if (session === undefined || session.head !== part.head) return undefined
  if (fence === undefined && isHeldElsewhere(session.lease, clock.nowMs())) return undefined
  const { key, id, agent, status, turn, nextStep } = session
  const hold = { key, id, fence: fence ?? session.fence }
  return {
    facts: {
      key,
      id,
      agent,
      parent: part.parent,
      step: nextStep,
      status,
      turn,
      toolCall: null,
      state: part.state,
      schemaVersion: null,
      metadata: undefined,
      operationId: null,
    },
    take(checkpoint) {
      const { createdAtMs: atMs } = checkpoint
      ledger.sessions.advance(hold, { head: checkpoint.id, status, atMs, leaseUntilMs: null })
      const { revertFrom: beforeStep, isTakenBack = false } = part
      if (beforeStep !== null) ledger.tools.goTo(key, { step: nextStep, beforeStep, isTakenBack })
    },
  }
}

/** Files and state go back together or not at all. */
export function refuseOthers(
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
    {
      hint: 'Neither its state nor its files were rewound. Check what was saved, then try again.',
    },
  )
}

/** It would find another state under its hands than the one it has read. */
export function refuseHeldElsewhere({ clock }: StoreContext, { id, lease }: Session): void {
  if (!isHeldElsewhere(lease, clock.nowMs())) return
  throw new SavestateError('SESSION_BUSY', `The session ${JSON.stringify(id)} is in use`, {
    hint: `The rewind includes it, so its process (${lease?.owner.pid}) must end first.`,
  })
}

/** What a session says to a restore that comes too late. Nothing of its row is there then. */
export function isRefusedBySession(error: unknown): boolean {
  const codes = ['HEAD_MOVED', 'SESSION_BUSY', 'SESSION_FENCED', 'SESSION_DELETED']
  return error instanceof SavestateError && codes.includes(error.code)
}
