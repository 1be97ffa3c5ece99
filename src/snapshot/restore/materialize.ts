// Writes a snapshot into an empty folder, with the code that restores files. The folder need not be a project, and nothing is flushed:
// after a power failure the snapshot is still in the store.
import { statSync } from 'node:fs'
import {
  type BytePath,
  fsPath,
  type ObjectId,
  type OwnedPath,
  type PlannedWrite,
  planRestore,
  printablePath,
  ROOT,
  SavestateError,
} from '../../model/index.js'
import { FolderNode } from '../capture/stat-cache/node.js'
import { type OnProgress, ProgressCounter } from '../capture/progress.js'
import type { SnapshotComparer } from '../compare/compare.js'
import type { BlobReader } from '../git/blob-reader.js'
import type { TreeDiff } from '../git/tree-diff.js'
import { applyPlan } from './apply.js'
import { ownerLookupFrom, type PartialMode } from './permissions.js'
import { Recheck } from './recheck.js'

export type MaterializeRequest = {
  readonly tree: ObjectId
  /** An existing, empty folder. */
  readonly root: BytePath
  /** The owners that the checkpoint recorded; undefined if it recorded none. */
  readonly ownersThen: readonly OwnedPath[] | undefined
}

export type Materialized = {
  /** All folders of the snapshot, without the top one. */
  readonly folders: readonly BytePath[]
  readonly partialModes: readonly PartialMode[]
}

/** The folder gets the mode that the snapshot has for the project's folder. Throws FILE_FAILED if another process writes into the folder meanwhile. */
export async function materialize(
  { tree, root, ownersThen }: MaterializeRequest,
  how: {
    readonly comparer: SnapshotComparer
    readonly diff: TreeDiff
    readonly blobs: BlobReader
    readonly report: OnProgress
  },
): Promise<Materialized> {
  const { comparer, diff, blobs, report } = how
  const top = await comparer.changeAt(undefined, tree, ROOT)
  const changes = [...(top ? [top] : []), ...(await comparer.compare(undefined, tree, diff))]
  const { ino: rootIno, mode } = statSync(fsPath(root), { bigint: true })
  const empty = new Map([[ROOT, { type: 'folder', mode: Number(mode) & 0o7777 } as const]])
  const target = new Map(changes.flatMap(({ path, after }) => (after ? [[path, after]] : [])))
  const everything = { includes: () => true, uncapturedThen: () => undefined }
  const plan = planRestore(empty, target, everything)
  const progress = new ProgressCounter(report)
  progress.toStore(plan.write.length)
  const { disturbed, partialModes } = await applyPlan(plan, {
    root,
    rootIno,
    tag: `open-${process.pid}`,
    sweep: [],
    durable: false,
    blobs,
    // The folder is empty, so there is no path in it to be checked.
    lastCheck: new Recheck(new FolderNode(ROOT, { viaIndex: false })),
    lookupOwner: ownerLookupFrom(ownersThen),
    onProgress: (files, bytes) => progress.stored(files, bytes),
  })
  const [other] = disturbed
  if (other !== undefined)
    throw new SavestateError(
      'FILE_FAILED',
      `Another program wrote to ${printablePath(other)} in ${printablePath(root)} meanwhile`,
      { hint: 'Choose another folder.' },
    )
  const isBelow = ({ path, to }: PlannedWrite) => to.type === 'folder' && path !== ROOT
  const folders = plan.write.filter(isBelow).map(({ path }) => path)
  return { folders, partialModes }
}
