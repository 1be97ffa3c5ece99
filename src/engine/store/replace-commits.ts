// Replaces the commits of checkpoints. Order of writes (docs/guide/store.md#forget): commits, refs beside the old ones, all rows in one
// transaction, the refs themselves. The transaction is the point of no return (I2); a collection finishes the rest after a kill.
import type { FilesCheckpoint, ObjectId, Project } from '../../model/index.js'
import { removeRefs, type Rewritten, setRefs } from '../../snapshot/index.js'
import { failpoint } from '../../system/index.js'
import { NEXT } from '../prune/gc.js'
import type { StoreContext } from '../operation/context.js'

type Replacement = {
  readonly rewritten: readonly Rewritten[]
  /** Inside a transaction. */
  readonly writeRows: () => void
}

/** The caller holds the project's lock. */
export async function replaceCommits(
  { ledger, snapshots }: StoreContext,
  project: Project,
  { rewritten, writeRows }: Replacement,
): Promise<void> {
  const refs = (ending: string): Map<string, ObjectId> =>
    new Map(
      rewritten.map(({ checkpoint, commit }) => [
        `${snapshots.refOf(project, checkpoint)}${ending}`,
        commit,
      ]),
    )
  await setRefs(snapshots.gitDir, refs(NEXT))
  failpoint('commits:refs-beside')
  ledger.removeBackup()
  ledger.transaction(writeRows)
  failpoint('commits:rows')
  await setRefs(snapshots.gitDir, refs(''))
  failpoint('commits:refs')
  await removeRefs(snapshots.gitDir, [...refs(NEXT).keys()])
}

/** The message of a checkpoint's commit. */
export function commitMetadata(
  { id, kind, reason, createdAtMs, snapshot }: FilesCheckpoint,
  { id: project, path }: Project,
) {
  return {
    tree: snapshot.tree,
    project,
    projectPath: path,
    checkpoint: id,
    kind,
    reason,
    createdAtMs,
  }
}
