// A checkpoint of a session before it is known what it follows on: that is found out in the transaction.
import {
  type Authors,
  type Checkpoint,
  type CheckpointKind,
  makeId,
  parseCheckpointId,
  parseName,
  parseReason,
} from '../model/index.js'
import type { Captured } from '../snapshot/index.js'
import { prepareCheckpoint } from './record.js'
import { projectOf, type SessionContext } from './session-context.js'

export type Draft = Omit<Checkpoint, 'session'>

type Labels = Pick<Checkpoint, 'name' | 'reason'>

/** Throws BAD_INPUT. */
export function labelsOf(said: {
  readonly name?: string | undefined
  readonly reason?: string | undefined
}): Labels {
  return {
    name: said.name === undefined ? null : parseName(said.name),
    reason: said.reason === undefined ? null : parseReason(said.reason),
  }
}

export function draftOf(
  { clock, project }: SessionContext,
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

/** Its commit and ref are there afterwards. */
export async function draftWithFiles(
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
