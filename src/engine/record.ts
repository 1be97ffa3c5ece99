// Makes a captured snapshot a checkpoint: commit and ref first, the row last (I1, I2).
import {
  type ChangeCounts,
  type CheckpointKind,
  type FilesCheckpoint,
  makeId,
  type ObjectId,
  parseCheckpointId,
  type Project,
  SavestateError,
  type SessionFacts,
} from '../model/index.js'
import type { Captured } from '../snapshot/index.js'
import { failpoint } from '../system/index.js'
import type { StoreContext } from './context.js'

export type CheckpointFacts = {
  readonly kind: CheckpointKind
  readonly reason: string | null
  readonly name: string | null
  /** The checkpoint before, which the changes are counted against. */
  readonly previous: ObjectId | undefined
  /** What it is in a session, if it belongs to one. */
  readonly session?: SessionFacts | undefined
}

/** Everything but the row. */
export async function prepareCheckpoint(
  { snapshots, clock }: StoreContext,
  project: Project,
  { captured, facts }: { readonly captured: Captured; readonly facts: CheckpointFacts },
): Promise<FilesCheckpoint> {
  const { kind, reason, name, previous, session = null } = facts
  const createdAtMs = clock.nowMs()
  const id = parseCheckpointId(makeId(createdAtMs, clock.random))
  const { skippedPaths: _paths, repositories: _repositories, ...snapshot } = captured.snapshot
  const changes = await countChanges(snapshots, captured, previous)
  const commit = await snapshots.record({
    tree: snapshot.tree,
    project: project.id,
    projectPath: project.path,
    checkpoint: id,
    kind,
    reason,
    createdAtMs,
  })
  return {
    id,
    project: project.id,
    kind,
    name,
    reason,
    createdAtMs,
    pinned: false,
    commit,
    changes,
    snapshot,
    session,
  }
}

export async function recordCheckpoint(
  context: StoreContext,
  project: Project,
  request: { readonly captured: Captured; readonly facts: CheckpointFacts },
): Promise<FilesCheckpoint> {
  const checkpoint = await prepareCheckpoint(context, project, request)
  failpoint('save:before-row')
  context.ledger.addCheckpoint(checkpoint, request.captured.snapshot)
  failpoint('save:after-row')
  return checkpoint
}

async function countChanges(
  snapshots: StoreContext['snapshots'],
  { snapshot, lines }: Captured,
  previous: ObjectId | undefined,
): Promise<ChangeCounts> {
  if (previous === undefined && lines !== undefined) {
    return { files: snapshot.fileCount, insertions: lines, deletions: 0 }
  }
  return snapshots.count(previous, snapshot.tree).catch((error: unknown) => {
    // The figures are of no use if the checkpoint before is damaged, but this one must not fail for that.
    const isDamage =
      error instanceof SavestateError && ['STORE_DAMAGED', 'GIT_FAILED'].includes(error.code)
    if (previous === undefined || !isDamage) throw error
    return snapshots.count(undefined, snapshot.tree)
  })
}
