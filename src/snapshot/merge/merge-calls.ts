// The calls of the capture thread that merge.
import { join } from 'node:path'
import type { ConflictChoice, ObjectId, ProjectId } from '../../model/index.js'
import { failpoint } from '../../system/index.js'
import type { CaptureTarget } from '../capture/capture-target.js'
import type { Change, SnapshotComparer } from '../compare/compare.js'
import { SnapshotRewriter } from '../compare/rewrite-snapshot.js'
import type { BlobReader } from '../git/blob-reader.js'
import { ObjectSink, type ObjectStore } from '../objects/object-store.js'
import { type LeftOut, uncapturedThen } from '../restore/rules-of-target.js'
import { findRenames } from './find-renames.js'
import { mergeContents, type Version } from './merge-contents.js'
import { type Merge, mergeSnapshots } from './merge-snapshots.js'

export type MergeRequest = Readonly<Record<Version, ObjectId>> & {
  readonly project: ProjectId
  readonly target: CaptureTarget
  /** The names of the versions in conflict markers. */
  readonly labels: Readonly<Record<Version, string>>
  readonly conflict: ConflictChoice
  /** The paths that `theirs` left out: they are not removed. */
  readonly leftOut: LeftOut
}

export type Merged = Omit<Merge, 'changes'> & {
  /** A snapshot: `ours` with the changes. Its objects are in the store, and nothing refers to it yet. */
  readonly tree: ObjectId
}

type Given = {
  readonly home: string
  readonly gitDir: string
  readonly store: ObjectStore
  readonly blobs: BlobReader
  readonly comparer: SnapshotComparer
  readonly compare: (before: ObjectId, after: ObjectId) => Promise<Change[]>
  readonly durable: boolean
}

export function mergeCalls({ home, gitDir, store, blobs, comparer, compare, durable }: Given) {
  return {
    /** Merges two snapshots with a common base, and writes the result. The caller holds the project's lock. */
    async merge({ project, target, labels, conflict, leftOut, ...versions }: MergeRequest) {
      const { base, ours, theirs } = versions
      const temporary = join(home, 'tmp', project)
      const sink = new ObjectSink(store, { temporary, durable })
      const { changes, ...merge } = await mergeSnapshots({ base, ours, theirs }, conflict, {
        compare,
        findRenames: async (before, after) => {
          const [one, other] = await Promise.all([comparer.parts(before), comparer.parts(after)])
          return findRenames(gitDir, one.files, other.files)
        },
        mergeBlobs: async (ids) => {
          const contents = {
            base: await blobs.read(ids.base),
            ours: await blobs.read(ids.ours),
            theirs: await blobs.read(ids.theirs),
          }
          return mergeContents(gitDir, { contents, labels, folder: `${temporary}.merge` })
        },
        storeBlob: (content) => sink.add('blob', content),
        uncapturedThen: async () => {
          const back = await compare(ours, theirs)
          return uncapturedThen({ project: target, changes: back, leftOut }, blobs)
        },
      })
      const rewriter = new SnapshotRewriter({ blobs, comparer, sink })
      const tree = changes.size === 0 ? ours : await rewriter.withEntries(ours, changes)
      await sink.finish()
      failpoint('merge:written')
      return { tree, ...merge }
    },
  }
}
