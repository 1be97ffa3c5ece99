// Turns a captured snapshot into a checkpoint: commit and ref first, the row last (I1, I2).
import {
  type Authors,
  type CheckpointKind,
  type CheckpointId,
  type FilesCheckpoint,
  makeId,
  type ObjectId,
  parseCheckpointId,
  type Project,
  type RewindNote,
  type SessionPosition,
} from '../../model/index.js'
import type { Captured } from '../../snapshot/index.js'
import { failpoint } from '../../system/index.js'
import type { StoreContext } from '../operation/context.js'

type CheckpointInput = {
  readonly kind: CheckpointKind
  readonly reason: string | null
  readonly name: string | null
  /** The snapshot of the previous checkpoint, against which changes are counted. */
  readonly previous: ObjectId | undefined
  /** The authors of the changes, if there are any. */
  readonly authors: Authors
  readonly session?: SessionPosition | undefined
}

/** Writes commit and ref. The caller adds the row. */
export async function prepareCheckpoint(
  { snapshots, clock }: StoreContext,
  project: Project,
  { captured, facts }: { readonly captured: Captured; readonly facts: CheckpointInput },
): Promise<FilesCheckpoint> {
  const { kind, reason, name, previous, session = null } = facts
  const createdAtMs = clock.nowMs()
  const id = parseCheckpointId(makeId(clock.random))
  const { tree, fileCount, sizeBytes, skippedCounts } = captured.snapshot
  const { lines } = captured
  const isFirst = previous === undefined && lines !== undefined
  const { commit, changes } = await snapshots.record(
    {
      tree,
      project: project.id,
      projectPath: project.path,
      checkpoint: id,
      kind,
      reason,
      createdAtMs,
    },
    isFirst ? undefined : { tree: previous },
  )
  return {
    id,
    project: project.id,
    kind,
    name,
    reason,
    createdAtMs,
    pinned: false,
    authors: previous === tree ? [] : facts.authors,
    commit,
    changes: changes ?? { files: fileCount, insertions: lines ?? 0, deletions: 0 },
    snapshot: { tree, fileCount, sizeBytes, skippedCounts },
    session,
  }
}

export async function recordCheckpoint(
  context: StoreContext,
  project: Project,
  request: {
    readonly captured: Captured
    readonly facts: CheckpointInput
    readonly rewind?: RewindNote | undefined
    /** Runs inside the transaction that adds the row. */
    readonly also?: (made: CheckpointId) => void
  },
): Promise<FilesCheckpoint> {
  const checkpoint = await prepareCheckpoint(context, project, request)
  failpoint('save:before-row')
  const details = { ...request.captured.snapshot, rewind: request.rewind }
  context.ledger.addCheckpoint(checkpoint, details, () => request.also?.(checkpoint.id))
  failpoint('save:after-row')
  return checkpoint
}
