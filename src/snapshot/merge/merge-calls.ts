// The calls of the capture thread that merge.
import { join } from 'node:path'
import {
  type BytePath,
  type ConflictChoice,
  type Edit,
  type FileEntry,
  type ObjectId,
  type ProjectId,
  sameEntry,
} from '../../model/index.js'
import { failpoint } from '../../system/index.js'
import type { CaptureTarget } from '../capture/capture-target.js'
import type { Change, SnapshotComparer } from '../compare/compare.js'
import { SnapshotRewriter } from '../compare/rewrite-snapshot.js'
import type { BlobReader } from '../git/blob-reader.js'
import { ObjectSink, type ObjectStore } from '../objects/object-store.js'
import { type LeftOut, uncapturedThen } from '../restore/rules-of-target.js'
import { objectIdOf } from '../objects/object-id.js'
import { applyEdits } from './apply-edits.js'
import { chooseHunks, type ChosenHunks } from './choose-hunks.js'
import { findRenames } from './find-renames.js'
import { mergeContents, type MergedContents, type Version } from './merge-contents.js'
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

export type EditsRequest = {
  readonly project: ProjectId
  /** The snapshot to which the edits are applied. */
  readonly tree: ObjectId
  readonly files: readonly {
    readonly path: BytePath
    /** The file in `tree`. */
    readonly start: FileEntry
    /** The file in the folder. */
    readonly present: FileEntry
    readonly edits: readonly Edit[]
  }[]
}

export type Edited = {
  /** The snapshot with the edited files. Nothing refers to it yet. */
  readonly tree: ObjectId
  /** Without files that cannot be merged, and without those that stay as they are. */
  readonly merged: ReadonlyMap<BytePath, FileEntry>
}

/** A merge with conflicts is dropped, so no one sees them. */
const NO_LABELS = { ours: '', base: '', theirs: '' }

export type HunksRequest = {
  readonly project: ProjectId
  readonly target: ObjectId
  readonly now: ObjectId
  readonly choices: readonly ChosenHunks[]
}

type Given = {
  readonly home: string
  readonly gitDir: string
  readonly store: ObjectStore
  readonly blobs: BlobReader
  readonly headers: BlobReader
  readonly comparer: SnapshotComparer
  readonly compare: (before: ObjectId, after: ObjectId) => Promise<Change[]>
  readonly durable: boolean
}

export function mergeCalls(given: Given) {
  const { home, gitDir, store, blobs, headers, comparer, compare, durable } = given
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
        mergeBlobs: async (ids) =>
          mergeIds(ids, { read: (id) => blobs.read(id), labels, temporary }),
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

    /** The folder as it is, without the chosen changes since a snapshot. The caller holds the project's lock. */
    async chooseHunks({ project, target, now, choices }: HunksRequest): Promise<ObjectId> {
      const sink = new ObjectSink(store, { temporary: join(home, 'tmp', project), durable })
      const storeBlob = (content: Buffer) => sink.add('blob', content)
      const tools = { gitDir, blobs, headers, comparer, storeBlob }
      const changes = await chooseHunks({ target, now }, choices, tools)
      const rewriter = new SnapshotRewriter({ blobs, comparer, sink })
      const tree = await rewriter.withEntries(now, changes)
      await sink.finish()
      failpoint('merge:written')
      return tree
    },

    /** A snapshot with the user's changes to files, without files that cannot be merged. The caller holds the project's lock. */
    async applyEdits({ project, tree, files }: EditsRequest): Promise<Edited> {
      const temporary = join(home, 'tmp', project)
      const sink = new ObjectSink(store, { temporary, durable })
      const made = new Map<ObjectId, Buffer>()
      const read = async (id: ObjectId) => made.get(id) ?? blobs.read(id)
      const merged = new Map<BytePath, FileEntry>()
      for (const { path, start, present, edits } of files) {
        const file = await applyEdits(start, edits, {
          mergeBlobs: async (ids) => mergeIds(ids, { read, labels: NO_LABELS, temporary }),
          addBlob: (content) => {
            const id = objectIdOf('blob', content)
            made.set(id, content)
            return id
          },
        })
        if (file !== undefined && !sameEntry(file, present)) merged.set(path, file)
      }
      for (const { blob } of merged.values()) {
        const content = made.get(blob)
        if (content !== undefined) sink.add('blob', content)
      }
      const rewriter = new SnapshotRewriter({ blobs, comparer, sink })
      const goal = merged.size === 0 ? tree : await rewriter.withEntries(tree, merged)
      await sink.finish()
      failpoint('merge:written')
      return { tree: goal, merged }
    },
  }
  async function mergeIds(
    ids: Readonly<Record<Version, ObjectId>>,
    {
      read,
      labels,
      temporary,
    }: {
      readonly read: (id: ObjectId) => Promise<Buffer>
      readonly labels: Readonly<Record<Version, string>>
      readonly temporary: string
    },
  ): Promise<MergedContents> {
    const contents = {
      base: await read(ids.base),
      ours: await read(ids.ours),
      theirs: await read(ids.theirs),
    }
    return mergeContents(gitDir, { contents, labels, folder: `${temporary}.merge` })
  }
}
