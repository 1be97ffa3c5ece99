// A checkpoint of a session before the transaction that gives it its step number.
import {
  type Checkpoint,
  makeId,
  parseCheckpointId,
  type Session,
  type SessionPosition,
} from '../../model/index.js'
import type { SessionContext } from './session-context.js'

export type Draft = Omit<Checkpoint, 'session'>

export function createDraft(
  { clock, project }: Pick<SessionContext, 'clock' | 'project'>,
  labels: Pick<Checkpoint, 'kind' | 'name' | 'reason'>,
): Draft {
  return {
    ...labels,
    id: parseCheckpointId(makeId(clock.random)),
    createdAtMs: clock.nowMs(),
    pinned: false,
    authors: null,
    project: project?.id ?? null,
    commit: null,
    snapshot: null,
    changes: null,
  }
}

/** Makes the draft the next step of the session. Its parent need not be the head: a fork starts from another session. */
export function asNextStep(
  draft: Draft,
  { key, id, agent, nextStep, turn }: Session,
  position: Omit<SessionPosition, 'key' | 'id' | 'agent' | 'step' | 'turn'>,
): Checkpoint & { readonly session: SessionPosition } {
  const session = { key, id, agent, step: nextStep, turn, ...position }
  return { ...draft, session } as Checkpoint & { readonly session: SessionPosition }
}
