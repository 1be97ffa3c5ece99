// A checkpoint of a session before the transaction that gives it its step number.
import {
  type Authors,
  type Checkpoint,
  type CheckpointKind,
  makeId,
  parseCheckpointId,
  parseName,
  parseReason,
  type Session,
  type SessionPosition,
} from '../../model/index.js'
import type { Captured } from '../../snapshot/index.js'
import { prepareCheckpoint } from '../checkpoints/record-checkpoint.js'
import { projectOf, type SessionContext } from './session-context.js'

export type Draft = Omit<Checkpoint, 'session'>

type Labels = Pick<Checkpoint, 'name' | 'reason'>

/** Throws BAD_INPUT. */
export function parseLabels({
  name,
  reason,
}: Partial<Record<keyof Labels, string | undefined>>): Labels {
  return {
    name: name === undefined ? null : parseName(name),
    reason: reason === undefined ? null : parseReason(reason),
  }
}

export function createDraft(
  { clock, project }: Pick<SessionContext, 'clock' | 'project'>,
  facts: Labels & { readonly kind: CheckpointKind },
): Draft {
  const createdAtMs = clock.nowMs()
  return {
    ...facts,
    id: parseCheckpointId(makeId(clock.random)),
    createdAtMs,
    pinned: false,
    authors: null,
    project: project?.id ?? null,
    commit: null,
    snapshot: null,
    changes: null,
  }
}

/** Writes the commit and the ref. */
export async function createDraftWithFiles(
  context: SessionContext,
  {
    captured,
    ...facts
  }: Labels & {
    readonly kind: CheckpointKind
    readonly captured: Captured
    readonly authors: Authors
  },
): Promise<Draft> {
  const project = projectOf(context)
  const previous = context.ledger.checkpoints.newestFiles(project.id)?.snapshot.tree
  return prepareCheckpoint(context, project, { captured, facts: { ...facts, previous } })
}

type SessionStepDraft = Draft & { readonly session: SessionPosition }

/** Makes the draft the next step of the session. */
export function asNextStep(
  draft: Draft,
  { key, id, agent, nextStep, turn }: Session,
  facts: Omit<SessionPosition, 'key' | 'id' | 'agent' | 'step' | 'turn'>,
): Checkpoint & SessionStepDraft {
  return { ...draft, session: { key, id, agent, step: nextStep, turn, ...facts } } as Checkpoint &
    SessionStepDraft
}
